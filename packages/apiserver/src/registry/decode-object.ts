import {
  cloneJson,
  badRequest,
  failure,
  formatApiVersion,
  formatQuantity,
  invalid,
  type KubeObject,
  objectMetaSchema,
  parseQuantity,
  pruneUnknown,
  StatusError,
  type StructuralSchema,
  setMember,
} from '@asterism/machinery';
import type { FieldValidation } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from './strategy.ts';

export interface DecodeContext {
  fieldValidation?: FieldValidation | undefined;
  strictErrors?: readonly string[] | undefined;
  warn?: ((text: string) => void) | undefined;
  /** The error for a body that cannot be decoded, where it is not the usual 400. */
  fail?: ((why: string) => StatusError) | undefined;
}

/**
 * A body as an object of `resource` that may be changed: a copy with the fields that the kind knows, of the types that it
 * gives them, in their canonical forms. What upstream's decoding into Go structs does.
 *
 * Rejects with 400 for another kind, a wrong type, or (`fieldValidation` Strict) an unknown field; with Warn it warns.
 */
export function decodeObject(resource: ServedVersion, body: KubeObject, context: DecodeContext): Draft {
  const object = requireKind(resource, body);
  const unknown: string[] = [];
  const fail = context.fail ?? ((why: string): StatusError => cannotBeHandled(resource, why));
  let draft: Record<string, unknown>;
  if (resource.storage === 'builtin') {
    const schema = resource.structural;
    draft = schema
      ? (decodeStruct(object, schema, { path: '', goPath: '', owner: '', unknown, fail }) as KubeObject)
      : cloneJson(object);
  } else {
    draft = cloneJson(object);
    draft.metadata = decodeStruct(object.metadata ?? {}, objectMetaSchema(), {
      path: '',
      goPath: '',
      owner: '',
      unknown: [],
      fail,
    });
    if (resource.structural) unknown.push(...unknownOfCustom(object, draft, resource.structural));
  }
  reportStrictErrors(
    fail,
    [...unknown.map((path) => `unknown field "${path}"`), ...(context.strictErrors ?? [])],
    context,
  );
  draft.metadata ??= {};
  // An empty list means that nobody shall own anything any more; elsewhere it is the same as none.
  if (object.metadata?.managedFields?.length === 0) (draft as Draft).metadata.managedFields = [];
  return draft as Draft;
}

/** 400 in the words of apiserver's decoding. */
function cannotBeHandled({ type }: ServedVersion, why: string): StatusError {
  return badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`);
}

/** `fieldValidation` decides what becomes of fields that nobody knows or that are given twice. */
function reportStrictErrors(
  fail: (why: string) => StatusError,
  errors: readonly string[],
  context: DecodeContext,
): void {
  const mode = context.fieldValidation ?? 'Warn';
  if (errors.length === 0 || mode === 'Ignore') return;
  if (mode === 'Strict') throw fail(`strict decoding error: ${errors.join(', ')}`);
  for (const error of errors) context.warn?.(error);
}

function requireKind(resource: ServedVersion, body: KubeObject): KubeObject {
  const { kind, group, version } = resource.type;
  const expected = formatApiVersion(resource.type);
  const given = { kind: body.kind || kind, apiVersion: body.apiVersion || expected };
  if (given.apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (given.kind !== kind && resource.storage === 'custom') {
    const fault = {
      type: 'FieldValueInvalid' as const,
      field: 'kind',
      message: `Invalid value: "${given.kind}": must be ${kind}`,
    };
    throw invalid({ group, kind: given.kind }, body.metadata?.name ?? '', [fault]);
  }
  if (given.kind !== kind) {
    const goGroup = group === '' ? 'core' : (group.split('.')[0] ?? group);
    throw badRequest(
      `${given.kind} in version "${version}" cannot be handled as a ${kind}: converting (${version}.${given.kind}) to (${goGroup}.${kind}): unknown conversion`,
    );
  }
  return { ...body, ...given };
}

/** Unknown fields of a custom resource; those of its metadata have gone from `draft` already. */
function unknownOfCustom(object: KubeObject, draft: Record<string, unknown>, schema: StructuralSchema): string[] {
  const paths = pruneUnknown(draft, schema);
  const inMetadata: string[] = [];
  decodeStruct(object.metadata ?? {}, objectMetaSchema(), {
    path: 'metadata',
    goPath: 'metadata',
    owner: '',
    unknown: inMetadata,
    fail: badRequest,
  });
  return [...paths, ...inMetadata].sort();
}

interface Decoding {
  /** As strict decoding names a field: `data.key`, `spec.containers[0].image`. */
  path: string;
  /** As Go names it, which has no keys of maps: `data`, `spec.containers.image`. */
  goPath: string;
  /** The Go struct that has the field. */
  owner: string;
  unknown: string[];
  fail(why: string): StatusError;
}

function decodeStruct(value: unknown, schema: StructuralSchema, at: Decoding): unknown {
  return decodeValue(value, schema, { ...at, owner: schema.name });
}

function decodeValue(value: unknown, schema: StructuralSchema, at: Decoding): unknown {
  if (schema.preserveUnknown && schema.fields.size === 0) return cloneJson(value);
  if (schema.intOrString) return decodeIntOrString(value, at);
  switch (schema.type) {
    case 'object':
      return decodeMembers(value, schema, at);
    case 'array':
      return decodeItems(value, schema, at);
    default:
      return decodeScalar(value, schema, at);
  }
}

function decodeMembers(value: unknown, schema: StructuralSchema, at: Decoding): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, schema, at);
  const result: Record<string, unknown> = {};
  const isMap = schema.fields.size === 0;
  for (const [key, member] of Object.entries(value)) {
    const field = schema.field(key);
    const path = join(at.path, key);
    if (!field) {
      if (schema.preserveUnknown) result[key] = cloneJson(member);
      else at.unknown.push(path);
      continue;
    }
    if (member === null) {
      if (isMap) setMember(result, key, zeroOf(field));
      continue;
    }
    const within: Decoding = { ...at, path, goPath: isMap ? at.goPath : join(at.goPath, key) };
    const decoded = decodeMember(member, schema, field, within);
    // An empty list or map is none; a field that Go always writes is then null, as the `zero` below says.
    if (!isMap && isEmpty(decoded, field)) continue;
    setMember(result, key, decoded);
  }
  for (const [key, zero] of Object.entries(schema.zero ?? {})) {
    if (!Object.hasOwn(result, key)) result[key] = cloneJson(zero);
  }
  return result;
}

function decodeMember(member: unknown, schema: StructuralSchema, field: StructuralSchema, at: Decoding): unknown {
  const owner = schema.fields.size === 0 ? at.owner : schema.name;
  // `JSONSchemaPropsOrBool` and its like: the schema says "anything", where an object is meant to be a schema again.
  const isSchema = field.name.startsWith('JSONSchemaPropsOr') && typeof member === 'object' && !Array.isArray(member);
  if (isSchema) return decodeValue(member, schema, { ...at, owner: schema.name, unknown: [] });
  return decodeValue(member, field, { ...at, owner });
}

function decodeItems(value: unknown, schema: StructuralSchema, at: Decoding): unknown {
  if (!Array.isArray(value)) throw mismatch(value, schema, at);
  const { items } = schema;
  if (!items) return cloneJson(value);
  return value.map((item: unknown, index) =>
    item === null ? zeroOf(items) : decodeValue(item, items, { ...at, path: `${at.path}[${index}]` }),
  );
}

function decodeIntOrString(value: unknown, at: Decoding): unknown {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return value;
  throw at.fail(`json: cannot unmarshal ${describe(value)} into Go struct field ${place(at)} of type int32`);
}

function decodeScalar(value: unknown, schema: StructuralSchema, at: Decoding): unknown {
  const { type, source, name } = schema;
  if (name === 'Quantity') return decodeQuantity(value, at);
  if (type === 'boolean' && typeof value === 'boolean') return value;
  if (type === 'number' && typeof value === 'number') return value;
  if (type === 'integer' && typeof value === 'number' && isInteger(value, source.format)) return value;
  if (type === undefined) return cloneJson(value);
  if (type !== 'string' || typeof value !== 'string') throw mismatch(value, schema, at);
  if (source.format === 'date-time') return decodeTime(value, name === 'MicroTime', at);
  if (source.format === 'byte') return decodeBase64(value, at);
  return value;
}

function decodeQuantity(value: unknown, at: Decoding): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw at.fail('json: cannot unmarshal into Quantity');
  try {
    return formatQuantity(parseQuantity(String(value)));
  } catch {
    throw at.fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

function decodeTime(value: string, micro: boolean, at: Decoding): string {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) {
    throw at.fail(
      `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)}`,
    );
  }
  const seconds = new Date(time).toISOString().slice(0, 19);
  if (!micro) return `${seconds}Z`;
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? '';
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

function decodeBase64(value: string, at: Decoding): string {
  const text = value.replaceAll(/[\r\n]/g, '');
  const bad = text.search(/[^A-Za-z0-9+/=]/);
  const wrongEnd = text.length % 4 !== 0 || /=[^=]|===/.test(text);
  if (bad >= 0 || wrongEnd) throw at.fail(`illegal base64 data at input byte ${bad >= 0 ? bad : text.length}`);
  return Buffer.from(text, 'base64').toString('base64');
}

function isInteger(value: number, format: string | undefined): boolean {
  if (!Number.isInteger(value)) return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

/** Lists and maps without an item are the same as none; a struct without a field set is not. */
function isEmpty(value: unknown, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (
    schema.type === 'object' &&
    schema.additional !== undefined &&
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 0
  );
}

function zeroOf(schema: StructuralSchema): unknown {
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'object':
      return cloneJson(schema.zero ?? {});
    default:
      return null;
  }
}

function mismatch(value: unknown, schema: StructuralSchema, at: Decoding): StatusError {
  return at.fail(
    `json: cannot unmarshal ${describe(value)} into Go struct field ${place(at)} of type ${goType(schema)}`,
  );
}

function place({ owner, goPath }: Decoding): string {
  return `${owner}.${goPath}`;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value;
}

function goType(schema: StructuralSchema): string {
  switch (schema.type) {
    case 'array':
      return `[]${schema.items ? goType(schema.items) : 'interface {}'}`;
    case 'object':
      return schema.additional && schema.fields.size === 0
        ? `map[string]${goType(schema.additional)}`
        : `v1.${schema.name}`;
    case 'integer':
      return schema.source.format ?? 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      return 'string';
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** 500 without a reason, as upstream answers what no code of its own foresaw. */
export function unexpected(message: string): StatusError {
  const { reason: _, ...status } = failure(500, message).status;
  return new StatusError(status);
}
