import {
  cloneJson,
  badRequest,
  failure,
  findUnreadable,
  formatApiVersion,
  invalid,
  type KubeObject,
  objectMetaSchema,
  pruneUnknown,
  StatusError,
  type StructuralSchema,
} from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import { StructDecoder } from './struct-decoder.ts';
import type { FieldValidation } from '../contract/field-validation.ts';
import type { Draft } from '../contract/strategy.ts';
import { invalidValue } from './invalid-value.ts';

export interface DecodeContext {
  fieldValidation?: FieldValidation | undefined;
  strictErrors?: readonly string[] | undefined;
  warn?: ((text: string) => void) | undefined;
  /** The error for a body that cannot be decoded, where it is not the usual 400. */
  fail?: ((why: string) => StatusError) | undefined;
  /**
   * What is decoded, as upstream does in different ways: a body (default), the text that a JSON or merge patch left, or the
   * map that a strategic merge patch left.
   */
  source?: 'body' | 'patched JSON' | 'map' | undefined;
  /** Receives the paths of empty lists that the server shows as null, and whose writer owns them all the same. */
  emptied?: string[][] | undefined;
  /** An object of the kind as it is stored: what the body has in common with it (the same, not equal) need not be decoded. */
  base?: KubeObject | undefined;
}

/**
 * A body as an object of `resource` that may be changed: a copy with the fields that the kind knows, of the types that it
 * gives them, in their canonical forms. What upstream's decoding into Go structs does.
 *
 * Rejects with 400 for another kind, a wrong type, or (`fieldValidation` Strict) an unknown field; with Warn it warns.
 */
export function decodeObject(resource: ServedVersion, body: KubeObject, context: DecodeContext): Draft {
  const object = requireKind(resource, body, context.source);
  const unknown: string[] = [];
  const fail = context.fail ?? ((why: string): StatusError => cannotBeHandled(resource, why));
  let draft: Record<string, unknown>;
  if (resource.storage === 'builtin') {
    const schema = resource.structural;
    draft = schema ? decodeBuiltin(object, schema, { ...context, fail, unknown }) : cloneJson(object);
  } else {
    draft = cloneJson(object);
    draft.metadata = new StructDecoder({ fail }).decodePart(object.metadata ?? {}, objectMetaSchema());
    const schema = resource.structural;
    if (schema) unknown.push(...unknownOfCustom(object, draft, schema));
    const unreadable = schema && findUnreadable(draft, schema);
    if (unreadable) throw fail(`${unreadable.field}: ${unreadable.message}`);
  }
  reportStrictErrors(fail, strictErrorsOf(unknown, context), context);
  draft.metadata ??= {};
  // An empty list means that nobody shall own anything any more; elsewhere it is the same as none.
  if (object.metadata?.managedFields?.length === 0) (draft as Draft).metadata.managedFields = [];
  return draft as Draft;
}

/** `object` as its built-in kind has it, which `schema` is of. Throws what `fail` makes of it where it does not fit. */
export function probeDecoding(
  object: KubeObject,
  schema: StructuralSchema,
  fail: (why: string) => StatusError,
): KubeObject {
  return new StructDecoder({ fail }).decodeObject(object, schema) as KubeObject;
}

function decodeBuiltin(
  object: KubeObject,
  schema: StructuralSchema,
  { source, emptied, base, fail, unknown }: DecodeContext & { fail: (why: string) => StatusError; unknown: string[] },
): Record<string, unknown> {
  const decoder = new StructDecoder({ fail, fromMap: source === 'map', emptied });
  const draft = decoder.decodeObject(object, schema, base);
  for (const path of decoder.unknown) unknown.push(path);
  return draft;
}

function strictErrorsOf(unknown: readonly string[], { source, strictErrors = [] }: DecodeContext): string[] {
  const fields = unknown.map((path) => `unknown field "${path}"`);
  if (source === 'map') fields.sort();
  return source === undefined || source === 'body' ? [...fields, ...strictErrors] : [...strictErrors, ...fields];
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

function requireKind(resource: ServedVersion, body: KubeObject, source: DecodeContext['source']): KubeObject {
  const { kind, version, group } = resource.type;
  const expected = formatApiVersion(resource.type);
  const given = { kind: body.kind || kind, apiVersion: body.apiVersion || expected };
  const isCustom = resource.storage === 'custom';
  const isBody = source === undefined || source === 'body';
  if (given.apiVersion !== expected && (isBody || !isCustom)) {
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (isCustom) requireType(resource, given, body.metadata?.name ?? '');
  if (given.kind !== kind) {
    const goGroup = group === '' ? 'core' : (group.split('.')[0] ?? group);
    throw badRequest(
      `${given.kind} in version "${version}" cannot be handled as a ${kind}: converting (${version}.${given.kind}) to (${goGroup}.${kind}): unknown conversion`,
    );
  }
  return { ...body, ...given };
}

/** 500 for what a webhook made another kind of, as upstream's conversion has it. */
export function requireSameKind({ type, storage, apiVersion }: ServedVersion, object: KubeObject): void {
  const { kind = '', apiVersion: given = '' } = object;
  if (storage === 'custom' || (kind === type.kind && given === apiVersion)) return;
  const version = given.slice(given.indexOf('/') + 1);
  const goGroup = type.group === '' ? 'core' : (type.group.split('.')[0] ?? type.group);
  throw unexpected(`converting (${version}.${kind}) to (${goGroup}.${type.kind}): unknown conversion`);
}

/** 422 for a custom resource of another kind, or one that a patch put into another version. */
function requireType(resource: ServedVersion, given: { kind: string; apiVersion: string }, name: string): void {
  const { kind, group } = resource.type;
  const wanted = { kind, apiVersion: formatApiVersion(resource.type) };
  const fields = (['kind', 'apiVersion'] as const).filter((field) => given[field] !== wanted[field]);
  const faults = fields.map((field) => invalidValue(field, given[field], `must be ${wanted[field]}`));
  if (faults.length > 0) throw invalid({ group, kind: given.kind }, name, faults);
}

/** Unknown fields of a custom resource; those of its metadata have gone from `draft` already. */
function unknownOfCustom(object: KubeObject, draft: Record<string, unknown>, schema: StructuralSchema): string[] {
  const paths = pruneUnknown(draft, schema);
  const decoder = new StructDecoder({ fail: badRequest });
  decoder.decodePart(object.metadata ?? {}, objectMetaSchema(), ['metadata']);
  return [...paths, ...decoder.unknown].sort();
}

/** 500 without a reason, as upstream answers what no code of its own foresaw. */
export function unexpected(message: string): StatusError {
  const { reason: _, ...status } = failure(500, message).status;
  return new StatusError(status);
}
