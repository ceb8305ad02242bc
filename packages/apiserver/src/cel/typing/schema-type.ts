import type { OpenApiSchema } from '@asterism/machinery';
import {
  BOOL,
  BYTES,
  type CelField,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
} from './cel-type.ts';

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package return var void while'.split(
    ' ',
  ),
);
const STRING_FORMATS: Readonly<Record<string, CelType>> = {
  byte: BYTES,
  date: TIMESTAMP,
  'date-time': TIMESTAMP,
  duration: DURATION,
};
/** The fields of an object's metadata that rules see. */
const METADATA: OpenApiSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

/** The type that rules see of values of a structural schema, or undefined if they do not see them. `root` is a whole object. */
export function schemaType(schema: OpenApiSchema, root = false): CelType | undefined {
  if (schema['x-kubernetes-int-or-string']) return DYN;
  switch (schema.type) {
    case 'array': {
      const element = schema.items && schemaType(schema.items);
      return element && listOf(element);
    }
    case 'object':
      return objectSchemaType(schema, root || schema['x-kubernetes-embedded-resource'] === true);
    case 'string':
      return STRING_FORMATS[schema.format ?? ''] ?? STRING;
    case 'boolean':
      return BOOL;
    case 'number':
      return DOUBLE;
    case 'integer':
      return INT;
    default:
      return undefined;
  }
}

function objectSchemaType(schema: OpenApiSchema, isResource: boolean): CelType | undefined {
  if (typeof schema.additionalProperties === 'object') {
    const value = schemaType(schema.additionalProperties);
    return value && mapOf(STRING, value);
  }
  const { properties = {} } = isResource ? withObjectMeta(schema) : schema;
  const fields = new Map<string, CelField>();
  for (const [jsonName, property] of Object.entries(properties)) {
    const type = schemaType(property);
    const name = celFieldName(jsonName);
    if (type && name !== undefined) fields.set(name, { type, jsonName });
    // Both names are known, as upstream has it.
    if (type && name === 'namespace') fields.set('__namespace__', { type, jsonName });
  }
  return { kind: 'object', name: 'object', fields };
}

const TEXT: OpenApiSchema = { type: 'string' };

/** The schema of a whole object with what rules see of its kind and its metadata. */
export function withObjectMeta(schema: OpenApiSchema): OpenApiSchema {
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: METADATA } };
}

/** The name of a property in expressions: `x-y` is `x__dash__y`. Undefined for one that has none. */
export function celFieldName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
