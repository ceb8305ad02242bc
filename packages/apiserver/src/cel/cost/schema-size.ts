import type { OpenApiSchema } from '@asterism/machinery';
import { celFieldName, withObjectMeta } from '../typing/schema-type.ts';
import type { SizeAt } from './estimate-cost.ts';

/** Of a request, in bytes: what has no limit of its own can be as large. */
const MAX_REQUEST = 3 * 1024 * 1024;
const MAX_DURATION = 32;
const DATE = 12;
const MIN_DATE_TIME = 21;
const MAX_DATE_TIME = 40;

/** Sizes of the values in a variable of a schema, by their paths. `root` is the schema of a whole object. */
export function schemaSizes(schema: OpenApiSchema, root = false): SizeAt {
  const start = root ? withObjectMeta(schema) : schema;
  return ([, ...path]) => {
    let at: OpenApiSchema | undefined = start;
    for (const name of path) {
      if (name === '@keys') return at.additionalProperties ? 0 : undefined;
      at = memberOf(at, name);
      if (!at) return undefined;
    }
    return maxElements(at);
  };
}

function memberOf(schema: OpenApiSchema, name: string): OpenApiSchema | undefined {
  if (name === '@items') return schema.items;
  if (name === '@values')
    return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  return Object.entries(schema.properties ?? {}).find(([property]) => celFieldName(property) === name)?.[1];
}

/** Of values without a size it is 0, so that comparing two of them is estimated to cost nothing, as upstream has it. */
function maxElements(schema: OpenApiSchema): number {
  const { maxLength, maxItems, maxProperties } = schema;
  if (schema['x-kubernetes-int-or-string']) return maxLength === undefined ? MAX_REQUEST - 2 : maxLength * 4;
  if (schema.type === 'array') return maxItems ?? Math.floor((MAX_REQUEST - 2) / (minSize(schema.items ?? {}) + 1));
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    return maxProperties ?? Math.floor((MAX_REQUEST - 2) / (minSize(schema.additionalProperties) + 6));
  }
  return schema.type === 'string' ? maxLengthOf(schema) : 0;
}

function maxLengthOf({ format, maxLength, enum: values }: OpenApiSchema): number {
  if (format === 'duration') return MAX_DURATION;
  if (format === 'date') return DATE;
  if (format === 'date-time') return MAX_DATE_TIME;
  if (maxLength !== undefined) return format === 'byte' ? maxLength : maxLength * 4;
  const texts = (values ?? []).filter((value) => typeof value === 'string');
  if (texts.length > 0 && format !== 'byte') return Math.max(...texts.map((text) => Buffer.byteLength(text)));
  return MAX_REQUEST - 2;
}

/** The least that a value takes as JSON. */
function minSize(schema: OpenApiSchema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'array':
      return 2;
    case 'object':
      return typeof schema.additionalProperties === 'object' ? 2 : minObjectSize(schema);
    case 'string':
      return { duration: 2, date: DATE, 'date-time': MIN_DATE_TIME }[schema.format ?? ''] ?? 2;
    default:
      return 1;
  }
}

function minObjectSize({ properties = {}, required = [] }: OpenApiSchema): number {
  return Object.entries(properties)
    .filter(([name, property]) => required.includes(name) && property.default === undefined)
    .reduce((size, [name, property]) => size + name.length + minSize(property) + 4, 2);
}
