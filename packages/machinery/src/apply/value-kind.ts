import { isJsonObject } from '../json-object.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';

export type ValueKind = 'map' | 'list' | 'scalar';

/** As what a value is merged, tracked and compared: by its own type where the schema allows that, else by the schema's. */
export function kindOf(schema: StructuralSchema, value: unknown): ValueKind {
  const { type } = schema;
  if (type === undefined) {
    if (Array.isArray(value)) return 'list';
    return typeof value === 'object' || value === undefined ? 'map' : 'scalar';
  }
  return type === 'object' ? 'map' : type === 'array' ? 'list' : 'scalar';
}

export function isAtomicMap(schema: StructuralSchema): boolean {
  return schema.mapType === 'atomic';
}

export function isAtomicList(schema: StructuralSchema): boolean {
  return schema.listType === 'atomic';
}

/** The schema of the value under `key`, undefined for a field that is not declared where others are not allowed. */
export function memberSchema(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  return schema.fields.get(key) ?? schema.mapElement;
}

/** The object, or undefined for null and anything else. */
export function asMap(value: unknown): Record<string, unknown> | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isEmptyMap(value: Record<string, unknown> | undefined): boolean {
  for (const _ in value) return false;
  return true;
}
