import { cloneJson, isJsonObject, ownMember, setMember } from '../json-object.ts';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * Sets the schema's defaults in `object` itself, as a server does on every write and read: call it on what was just parsed.
 *
 * First nulls go that the schema neither allows nor has a default for (D1); then an absent field, or one that is null and
 * must not be, gets its default (D2); defaults are applied within defaults (D3). In a built-in kind and in all metadata a
 * field that is an empty list or map is as one that is absent (D4), and fields that a Go struct always has get their zero
 * values (`resources: {}`, `lastTransitionTime: null`) (D5); of the other defaults of built-in kinds only what the schema says
 * is set: most of them are code upstream.
 */
export function applyDefaults(object: unknown, schema: StructuralSchema): void {
  dropNulls(object, schema);
  if (schema.builtin) {
    setDefaults(object, schema);
    shapeAsStructs(object, schema);
    return;
  }
  if (schema.hasDefaults || schema.hasEmbedded) setDefaults(object, schema);
  if (isJsonObject(object)) shapeMetadata(object, schema);
}

/** The metadata of a resource, in a kind that is not built in. */
function shapeMetadata(object: Record<string, unknown>, schema: StructuralSchema): void {
  const metadata = schema.fields.get('metadata');
  if (metadata?.builtin) shapeAsStructs(object.metadata, metadata);
}

function dropNulls(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const item of value) dropNulls(item, items);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const field = schema.field(key);
      if (!field) continue;
      if (value[key] !== null) dropNulls(value[key], field);
      else if (!field.nullable && field.defaultValue === undefined) delete value[key];
    }
  }
}

function setDefaults(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return;
    for (let i = 0; i < value.length; i++) {
      if (mustNotBeNull(value[i], items)) value[i] = cloneJson(items.defaultValue ?? null);
      setDefaults(value[i], items);
    }
  } else if (isJsonObject(value)) {
    for (const [key, field] of schema.declared) {
      const fallback = field.defaultValue;
      if (fallback === undefined) continue;
      const current = ownMember(value, key);
      if (current === undefined || mustNotBeNull(current, field)) setMember(value, key, cloneJson(fallback));
    }
    for (const key of Object.keys(value)) {
      const field = schema.declared.get(key) ?? schema.additional;
      if (!field) continue;
      if (mustNotBeNull(value[key], field)) setMember(value, key, cloneJson(field.defaultValue ?? null));
      setDefaults(value[key], field);
    }
    if (schema.embeddedResource && !schema.builtin) shapeMetadata(value, schema);
  }
}

function shapeAsStructs(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) for (const item of value) shapeAsStructs(item, items);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (typeof member !== 'object') continue;
      const field = schema.field(key);
      if (!field) continue;
      if (schema.declared.has(key) && isEmptyCollection(member, field)) delete value[key];
      else shapeAsStructs(member, field);
    }
    const { zero } = schema;
    for (const key in zero) if (value[key] === undefined) value[key] = cloneJson(zero[key]);
  }
}

/** Whether the value is a list or map (not a struct) with nothing in it. */
function isEmptyCollection(value: unknown, schema: StructuralSchema): boolean {
  if (Array.isArray(value)) return value.length === 0 && !schema.preserveUnknown;
  return isJsonObject(value) && schema.additional !== undefined && Object.keys(value).length === 0;
}

function mustNotBeNull(value: unknown, schema: StructuralSchema): boolean {
  return value === null && !schema.nullable;
}
