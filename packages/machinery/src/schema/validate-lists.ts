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
  if (!schema.hasListTypes) return;
  if (Array.isArray(value)) {
    if (schema.listType === 'set') {
      if (value.length > 1)
        for (const i of repeated(value, textOf)) errors.push(fieldDuplicate(`${path}[${i}]`, value[i]));
    } else if (schema.listType === 'map') checkMap(value, schema, path, errors);
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
  if (list.length <= 1) return;
  const identities = list.map((item) =>
    listMapKeys.map((name) => (isJsonObject(item) ? ownMember(item, name) : undefined)),
  );
  for (const i of repeated(identities, (values) => values.map(textOf).join())) {
    const key: Record<string, unknown> = {};
    for (const [n, name] of listMapKeys.entries()) {
      const value = identities[i]?.[n];
      if (value !== undefined) setMember(key, name, value);
    }
    errors.push(fieldDuplicate(`${path}[${i}]`, key));
  }
}

/** The places at which something stands for the second time. */
function repeated<T>(identities: readonly T[], text: (identity: T) => string): number[] {
  const seen = new Map<string, number>();
  const places: number[] = [];
  for (const [i, identity] of identities.entries()) {
    const name = text(identity);
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    if (times === 1) places.push(i);
  }
  return places;
}

/** The same text for the same value, and only then. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? formatGoJson(value) : String(value);
}
