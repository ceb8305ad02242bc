import { isJsonObject, ownMember, setMember } from '../json-object.ts';
import type { FieldError } from '../status.ts';
import { fieldDuplicate, fieldInvalid } from './field-errors.ts';
import { formatGoJson } from './go-format.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Faults of lists of type set that repeat an item, and of type map that repeat a key: each repeated value once. */
export function validateLists(value: unknown, schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  walk(value, schema, path, errors);
  return errors;
}

function walk(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    if (schema.listType === 'set') findRepeated(value, path, errors);
    else if (schema.listType === 'map') checkMap(value, schema, path, errors);
    const { items } = schema;
    if (items) for (const [i, item] of value.entries()) walk(item, items, `${path}[${i}]`, errors);
  } else if (isJsonObject(value)) {
    const { declared, additional } = schema;
    for (const key of Object.keys(value)) {
      const field = declared.get(key);
      if (field) walk(value[key], field, path === '' ? key : `${path}.${key}`, errors);
      else if (additional) walk(value[key], additional, `${path}[${key}]`, errors);
    }
  }
}

function checkMap(
  list: readonly unknown[],
  { listMapKeys }: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) {
    errors.push(fieldInvalid(`${path}[${wrong}]`, list[wrong], 'must be an object for an array of list-type map'));
    return;
  }
  const keys = list.map((item) => {
    const key: Record<string, unknown> = {};
    if (!isJsonObject(item)) return key;
    for (const name of listMapKeys) {
      const value = ownMember(item, name);
      if (value !== undefined) setMember(key, name, value);
    }
    return key;
  });
  findRepeated(keys, path, errors);
}

function findRepeated(identities: readonly unknown[], path: string, errors: FieldError[]): void {
  if (identities.length <= 1) return;
  const seen = new Map<string, number>();
  for (const [i, identity] of identities.entries()) {
    const text = formatGoJson(identity);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) errors.push(fieldDuplicate(`${path}[${i}]`, identity));
  }
}
