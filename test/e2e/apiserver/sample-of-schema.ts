import type { OpenApiSchema } from '@asterism/machinery';

/** Texts of the shapes that patterns and formats of CustomResourceDefinitions ask for. */
const TEXTS = [
  'a',
  'sample',
  '1',
  '1h',
  '10Mi',
  'Sample',
  '10.0.0.1',
  'fd00::1',
  '10.0.0.0/24',
  'https://example.com',
  'example.com/a',
  '2026-01-01T00:00:00Z',
  '00:00:00:00:00:01',
  '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  'example.com.',
  'a'.repeat(16),
];

const FORMATS: Readonly<Record<string, string>> = {
  byte: 'AAAA',
  cidr: '10.0.0.0/24',
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  duration: '1h',
  ipv4: '10.0.0.1',
  ipv6: 'fd00::1',
  mac: '00:00:00:00:00:01',
  uri: 'https://example.com',
};

/** A value that `schema` allows, with every property that is declared and not deeper than `depth`: what a test can create. */
export function sampleOfSchema(schema: OpenApiSchema, depth = 12): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'object':
      return sampleObject(schema, depth);
    case 'array':
      return schema.items ? [sampleOfSchema(schema.items, depth - 1)] : [];
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    case 'string':
      return sampleText(schema);
    default:
      return {};
  }
}

function sampleObject(schema: OpenApiSchema, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const sample: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (depth > 0 || required.includes(name)) sample[name] = sampleOfSchema(property, depth - 1);
  }
  if (typeof additionalProperties === 'object') sample.key = sampleOfSchema(additionalProperties, depth - 1);
  if (schema['x-kubernetes-embedded-resource']) {
    Object.assign(sample, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' } });
  }
  return sample;
}

function sampleNumber({ minimum, maximum, exclusiveMinimum }: OpenApiSchema): number {
  const least = (minimum ?? Math.min(1, maximum ?? 1)) + (exclusiveMinimum ? 1 : 0);
  return Math.ceil(least);
}

function sampleText({ anyOf, oneOf, ...schema }: OpenApiSchema): string {
  const alternatives = anyOf ?? oneOf ?? [{}];
  const fits = (text: string): boolean => isOf(text, schema) && alternatives.some((each) => isOf(text, each));
  return [...TEXTS, ...Object.values(FORMATS)].find(fits) ?? '';
}

function isOf(text: string, { format = '', pattern = '', minLength = 0, maxLength }: OpenApiSchema): boolean {
  const wanted = FORMATS[format];
  if (wanted !== undefined && wanted !== text) return false;
  return new RegExp(pattern).test(text) && text.length >= minLength && text.length <= (maxLength ?? text.length);
}
