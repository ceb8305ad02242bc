import { isJsonObject } from '../json-object.ts';
import { goTypeOfSchema, jsonKindOf, quoteGo } from './go-format.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * Why a server could not read `object` as the built-in kind at all, in the words of Go's JSON decoder
 * (`json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`), with which it answers
 * 400; undefined where every value is of its field's type. The first fault in the order of the object is named.
 *
 * Of Go's type names only those are known that the schema keeps: a named string type is called `string`.
 */
export function decodingError(object: unknown, schema: StructuralSchema): string | undefined {
  return check(object, schema, { struct: '', path: '' });
}

/** Where the value stands: the Go struct that has the field, and the path of fields from the root. */
interface Place {
  struct: string;
  path: string;
}

const INT_RANGES: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };
const GO_TIME = '2006-01-02T15:04:05Z07:00';
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const QUANTITY = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

function check(value: unknown, schema: StructuralSchema, place: Place): string | undefined {
  if (value === null || value === undefined || schema.preserveUnknown) return undefined;
  const special = checkSpecial(value, schema);
  if (special !== undefined) return special === '' ? undefined : special;
  switch (schema.type) {
    case 'object':
      return isJsonObject(value) ? checkObject(value, schema, place) : mismatch(value, schema, place);
    case 'array':
      return Array.isArray(value) ? checkList(value, schema, place) : mismatch(value, schema, place);
    case 'integer':
      return isInteger(value, schema) ? undefined : mismatch(value, schema, place);
    default:
      return schema.type === undefined || typeof value === schema.type ? undefined : mismatch(value, schema, place);
  }
}

function checkObject(object: Record<string, unknown>, schema: StructuralSchema, place: Place): string | undefined {
  const { fields, additional } = schema;
  for (const key of Object.keys(object)) {
    const field = fields.get(key);
    const child = field ?? additional;
    if (!child) continue;
    const at = field ? { struct: schema.name, path: place.path === '' ? key : `${place.path}.${key}` } : place;
    const error = check(object[key], child, at);
    if (error !== undefined) return error;
  }
  return undefined;
}

function checkList(list: readonly unknown[], { items }: StructuralSchema, place: Place): string | undefined {
  if (!items) return undefined;
  for (const item of list) {
    const error = check(item, items, place);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** Types that decode themselves; the empty text means that the value is fine, undefined that the type is an ordinary one. */
function checkSpecial(value: unknown, schema: StructuralSchema): string | undefined {
  switch (schema.name) {
    case 'Quantity':
      if (typeof value === 'number' || (typeof value === 'string' && QUANTITY.test(value))) return '';
      return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    case 'IntOrString':
      if (typeof value === 'string' || isInteger(value, schema)) return '';
      return `json: cannot unmarshal ${jsonKindOf(value)} into Go value of type int32`;
    case 'Time':
    case 'MicroTime':
      if (typeof value !== 'string') return `json: cannot unmarshal ${jsonKindOf(value)} into Go value of type string`;
      if (RFC3339.test(value) && !Number.isNaN(Date.parse(value))) return '';
      return `parsing time ${quoteGo(value)} as "${GO_TIME}": cannot parse ${quoteGo(value)} as "2006"`;
    default:
      return undefined;
  }
}

function isInteger(value: unknown, { source }: StructuralSchema): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  const limit = INT_RANGES[source.format ?? 'int64'] ?? 2 ** 63;
  return value >= -limit && value < limit;
}

function mismatch(value: unknown, schema: StructuralSchema, { struct, path }: Place): string {
  // A number that an integer field cannot hold is shown; of other values only their kind is told.
  const shown = typeof value === 'number' && schema.type === 'integer' ? `number ${value}` : jsonKindOf(value);
  const target = struct === '' && path === '' ? 'Go value' : `Go struct field ${struct}.${path}`;
  return `json: cannot unmarshal ${shown} into ${target} of type ${goTypeOfSchema(schema)}`;
}
