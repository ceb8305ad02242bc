import { isJsonObject } from '../json-object.ts';
import {
  validateAnnotations,
  validateDns1035Label,
  validateDns1123Label,
  validateLabels,
  validatePathSegmentName,
} from '../names.ts';
import type { ObjectMeta } from '../object.ts';
import type { FieldError } from '../status.ts';
import { objectMetaSchema } from './builtin-schemas.ts';
import { decodingError } from './decoding-error.ts';
import { fieldInvalid, fieldRequired } from './field-errors.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Faults of apiVersion, kind and metadata of resources embedded in an object; the object's own are checked elsewhere. */
export function validateEmbedded(value: unknown, schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  walk(value, schema, path, errors);
  return errors;
}

/**
 * The first fault for which a server cannot read the type or the metadata of an embedded resource at all (400); undefined
 * where it can.
 */
export function findUnreadable(value: unknown, schema: StructuralSchema, path = ''): FieldError | undefined {
  if (!schema.hasEmbedded) return undefined;
  if (Array.isArray(value)) {
    const { items } = schema;
    return items && firstOf(value.entries(), ([i, item]) => findUnreadable(item, items, `${path}[${i}]`));
  }
  if (!isJsonObject(value)) return undefined;
  const own = schema.embeddedResource ? unreadableMeta(value, path) : undefined;
  if (own) return own;
  return firstOf(Object.keys(value), (key) => {
    const field = schema.declared.get(key);
    if (field) return findUnreadable(value[key], field, join(path, key));
    return schema.additional && findUnreadable(value[key], schema.additional, `${path}[${key}]`);
  });
}

function unreadableMeta(resource: Record<string, unknown>, path: string): FieldError | undefined {
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name];
    if (value !== undefined && typeof value !== 'string')
      return fieldInvalid(join(path, name), value, 'must be a string');
  }
  const why = decodingError(resource.metadata, objectMetaSchema());
  return why === undefined ? undefined : fieldInvalid(join(path, 'metadata'), resource.metadata, why);
}

function firstOf<T>(values: Iterable<T>, find: (value: T) => FieldError | undefined): FieldError | undefined {
  for (const value of values) {
    const found = find(value);
    if (found) return found;
  }
  return undefined;
}

function walk(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  if (!schema.hasEmbedded) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const [i, item] of value.entries()) walk(item, items, `${path}[${i}]`, errors);
  } else if (isJsonObject(value)) {
    if (schema.embeddedResource) checkResource(value, path, errors);
    const { declared, additional } = schema;
    for (const key of Object.keys(value)) {
      const field = declared.get(key);
      if (field) walk(value[key], field, join(path, key), errors);
      else if (additional) walk(value[key], additional, `${path}[${key}]`, errors);
    }
  }
}

function checkResource(resource: Record<string, unknown>, path: string, errors: FieldError[]): void {
  for (const name of ['apiVersion', 'kind'] as const) {
    const field = join(path, name);
    const value = resource[name];
    if (value === undefined || value === '') errors.push(fieldRequired(field));
    else if (typeof value !== 'string') errors.push(fieldInvalid(field, value, 'must be a string'));
    else if (name === 'apiVersion') checkApiVersion(value, field, errors);
    else checkKind(value, field, errors);
  }
  if (resource.metadata !== undefined) checkMetadata(resource.metadata, join(path, 'metadata'), errors);
}

function checkApiVersion(value: string, field: string, errors: FieldError[]): void {
  if (value.split('/').length > 2) {
    errors.push(fieldInvalid(field, value, `unexpected GroupVersion string: ${value}`));
  }
}

function checkKind(value: string, field: string, errors: FieldError[]): void {
  const faults = validateDns1035Label(value.toLowerCase());
  if (faults.length > 0) {
    errors.push(fieldInvalid(field, value, `may have mixed case, but should otherwise match: ${faults.join(',')}`));
  }
}

function checkMetadata(value: unknown, field: string, errors: FieldError[]): void {
  const unreadable = decodingError(value, objectMetaSchema());
  if (unreadable !== undefined) {
    errors.push(fieldInvalid(field, value, unreadable));
    return;
  }
  const { name, generateName, namespace, labels, annotations } = (value ?? {}) as ObjectMeta;
  const names: [string, string | undefined, (text: string) => string[]][] = [
    ['generateName', generateName, validatePathSegmentName],
    ['name', name, validatePathSegmentName],
    ['namespace', namespace, validateDns1123Label],
  ];
  for (const [member, text, validate] of names) {
    if (text) errors.push(...validate(text).map((fault) => fieldInvalid(`${field}.${member}`, text, fault)));
  }
  errors.push(...validateLabels(labels ?? {}, `${field}.labels`));
  errors.push(...validateAnnotations(annotations ?? {}, `${field}.annotations`));
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
