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

function walk(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const [i, item] of value.entries()) walk(item, items, `${path}[${i}]`, errors);
  } else if (isJsonObject(value)) {
    if (schema.embeddedResource) checkResource(value, path, errors);
    const { declared, additional } = schema;
    for (const key of Object.keys(value)) {
      const field = declared.get(key);
      if (field) walk(value[key], field, path === '' ? key : `${path}.${key}`, errors);
      else if (additional) walk(value[key], additional, `${path}[${key}]`, errors);
    }
  }
}

function checkResource(resource: Record<string, unknown>, path: string, errors: FieldError[]): void {
  for (const name of ['apiVersion', 'kind'] as const) {
    const field = `${path}.${name}`;
    const value = resource[name];
    if (value === undefined || value === '') errors.push(fieldRequired(field));
    else if (typeof value !== 'string') errors.push(fieldInvalid(field, value, 'must be a string'));
    else if (name === 'apiVersion') checkApiVersion(value, field, errors);
    else checkKind(value, field, errors);
  }
  if (resource.metadata !== undefined) checkMetadata(resource.metadata, `${path}.metadata`, errors);
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
