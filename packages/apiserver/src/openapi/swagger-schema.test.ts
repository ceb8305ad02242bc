import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenApiSchema } from '@asterism/machinery';
import { customSwaggerSchema, swaggerSchema, type SwaggerSchema } from './swagger-schema.ts';

describe('a built-in schema in the words of v2', () => {
  const rows: [what: string, schema: OpenApiSchema, expected: SwaggerSchema][] = [
    ['a default is left out', { type: 'string', default: 'TCP' }, { type: 'string' }],
    [
      'a reference stands alone',
      { allOf: [{ $ref: '#/components/schemas/io.k8s.Pod' }], default: {} },
      { $ref: '#/definitions/io.k8s.Pod' },
    ],
    [
      'either of two types is a string',
      { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
      { format: 'int-or-string', type: 'string' },
    ],
    [
      'extensions stay, at any depth',
      {
        properties: {
          ports: {
            type: 'array',
            items: { $ref: '#/components/schemas/io.k8s.Port' },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-patch-merge-key': 'port',
          },
        },
      },
      {
        properties: {
          ports: {
            type: 'array',
            items: { $ref: '#/definitions/io.k8s.Port' },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-patch-merge-key': 'port',
          },
        },
      },
    ],
    [
      'a map of maps',
      { additionalProperties: { type: 'object', additionalProperties: { type: 'string', default: '' } } },
      { additionalProperties: { type: 'object', additionalProperties: { type: 'string' } } },
    ],
  ];
  for (const [what, schema, expected] of rows) test(what, () => assert.deepEqual(swaggerSchema(schema), expected));
});

describe('what kubectl cannot read in v2 is left open in a custom resource', () => {
  const rows: [what: string, schema: OpenApiSchema, expected: OpenApiSchema][] = [
    ['a nullable value', { type: 'object', properties: { a: { type: 'string' } }, nullable: true }, {}],
    [
      'an object that keeps unknown fields',
      { type: 'object', properties: { a: {} }, 'x-kubernetes-preserve-unknown-fields': true },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['a list of anything', { type: 'array' }, {}],
    ['alternatives', { type: 'string', anyOf: [{ pattern: 'a' }], not: { pattern: 'b' } }, { type: 'string' }],
    [
      'a nullable field that is required',
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
      },
      { type: 'object', required: ['b'], properties: { a: {}, b: { type: 'string' } } },
    ],
    [
      'a map of nullable values',
      { type: 'object', required: ['a'], additionalProperties: { type: 'string', nullable: true } },
      { type: 'object', additionalProperties: {} },
    ],
  ];
  for (const [what, schema, expected] of rows) {
    test(what, () => {
      const { properties } = customSwaggerSchema({ type: 'object', properties: { field: schema } });
      assert.deepEqual(properties?.['field'], expected);
    });
  }

  test('the whole object, where it keeps unknown fields or has no schema', () => {
    assert.deepEqual(customSwaggerSchema(undefined), { type: 'object' });
    assert.deepEqual(customSwaggerSchema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }), {
      type: 'object',
    });
  });

  test('an embedded resource has what every resource has', () => {
    const embedded = { type: 'object' as const, 'x-kubernetes-embedded-resource': true };
    const { properties } = customSwaggerSchema({ type: 'object', properties: { embedded } });
    assert.deepEqual(properties?.['embedded']?.required, ['kind', 'apiVersion']);
    assert.ok(properties?.['embedded']?.properties?.['metadata']);
  });
});
