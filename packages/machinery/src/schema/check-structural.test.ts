import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkStructural } from './check-structural.ts';
import type { OpenApiSchema } from './open-api-schema.ts';

const STRING: OpenApiSchema = { type: 'string' };
const ROOT = 'spec.validation.openAPIV3Schema';

/** Faults of an object with the field `f`, with paths from `f` on. */
function faultsOf(f: unknown): string[] {
  const errors = checkStructural({ type: 'object', properties: { f: f as OpenApiSchema } });
  return errors.map(({ field, message }) => `${field.replace(`${ROOT}.properties[f]`, 'f')}: ${message}`);
}

function rootFaultsOf(schema: unknown, statusSubresource = false): string[] {
  const errors = checkStructural(schema as OpenApiSchema, { statusSubresource });
  return errors.map(({ field, message }) => `${field.replace(ROOT, 'root')}: ${message.replace(ROOT, 'root')}`);
}

describe('fields that are fine', () => {
  const schemas: OpenApiSchema[] = [
    STRING,
    { 'x-kubernetes-preserve-unknown-fields': true },
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^[0-9]+%?$' },
    { type: 'object', properties: { a: STRING }, oneOf: [{ required: ['a'] }, { not: { required: ['a'] } }] },
    { type: 'object', properties: { a: STRING }, anyOf: [{ properties: { a: { enum: ['x'] } } }] },
    { type: 'object', additionalProperties: true },
    { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'kind'],
      items: { type: 'object', required: ['name'], properties: { name: STRING, kind: { ...STRING, default: 'a' } } },
    },
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object', properties: { a: { type: 'integer', default: 3 } }, default: { a: 4 } },
    {
      ...STRING,
      'x-kubernetes-validations': [{ rule: 'self.size() > 1', message: 'is too short', reason: 'FieldValueInvalid' }],
    },
  ];
  for (const schema of schemas) test(JSON.stringify(schema), () => assert.deepEqual(faultsOf(schema), []));
});

describe('fields that are not', () => {
  const rows: [schema: unknown, fault: string, ...more: string[]][] = [
    [{}, 'f.type: Required value: must not be empty for specified object fields'],
    [{ type: 'array' }, 'f.items: Required value: must be specified'],
    [{ type: 'array', items: {} }, 'f.items.type: Required value: must not be empty for specified array items'],
    [
      { type: 'object', properties: { b: {}, a: {} } },
      'f.properties[a].type: Required value: must not be empty for specified object fields',
      'f.properties[b].type: Required value: must not be empty for specified object fields',
    ],
    [
      { type: 'text' },
      'f.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      { type: 'object', anyOf: [{ properties: { a: STRING } }] },
      'f.anyOf[0].properties[a].type: Forbidden: must be empty to be structural',
    ],
    [
      { ...STRING, nullable: true, not: { default: 'x' } },
      'f.not.default: Forbidden: must be undefined to be structural',
    ],
    [
      { ...STRING, uniqueItems: true },
      'f.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      { type: 'object', properties: { a: STRING }, additionalProperties: STRING },
      'f.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [
      { type: 'object', properties: { a: STRING }, default: { b: 1 } },
      'f.default: Invalid value: {"b":1}: must not have unknown fields',
    ],
    [
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: {
          metadata: { type: 'object', properties: { name: { ...STRING, default: 'a/b' } } },
        },
      },
      'f.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
    ],
    [
      { type: 'integer', minimum: 3, default: 1 },
      'f.default: Invalid value: 1:  in body should be greater than or equal to 3',
    ],
    [
      { ...STRING, 'x-kubernetes-list-type': 'set' },
      'f.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
    [
      { ...STRING, 'x-kubernetes-map-type': 'atomic' },
      'f.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
    ],
    [
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
      'f.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { a: STRING } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
      'f.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
    [
      { ...STRING, 'x-kubernetes-validations': [{ rule: ' ' }] },
      'f.x-kubernetes-validations[0].rule: Required value: rule is not specified',
    ],
    [
      { ...STRING, 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] },
      'f.x-kubernetes-validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
    ],
    [
      { type: 'object', properties: { a: STRING }, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }] },
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path',
    ],
  ];
  for (const [schema, ...faults] of rows) {
    test(faults[0], () => {
      assert.deepEqual(faultsOf(schema), faults);
    });
  }
});

describe('the root', () => {
  const rows: [name: string, schema: unknown, statusSubresource: boolean, faults: string[]][] = [
    [
      'may restrict names',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { ...STRING, maxLength: 9 } } } },
      },
      false,
      [],
    ],
    [
      'may not say more of metadata',
      { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
      false,
      [
        'root.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      'declares what its clauses mention',
      { type: 'object', anyOf: [{ properties: { a: {} } }] },
      false,
      ['root.properties[a]: Required value: because it is defined in root.anyOf[0].properties[a]'],
    ],
    ['is an object', { type: 'string' }, false, ['root.type: Invalid value: "string": must be object at the root']],
    [
      'is not nullable',
      { type: 'object', nullable: true },
      false,
      ['root.nullable: Forbidden: nullable cannot be true at the root'],
    ],
    [
      'has no default for kind',
      { type: 'object', properties: { kind: { ...STRING, default: 'A' } } },
      false,
      ['root.properties[kind].default: Forbidden: must not be set in top-level kind'],
    ],
    [
      'says less beside a status',
      { type: 'string' },
      true,
      [
        'root.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        'root.type: Invalid value: "string": must be object at the root',
      ],
    ],
  ];
  for (const [name, schema, statusSubresource, faults] of rows) {
    test(name, () => assert.deepEqual(rootFaultsOf(schema, statusSubresource), faults));
  }

  test('stands where the caller says', () => {
    const [error] = checkStructural({}, { path: 'spec.versions[1].schema.openAPIV3Schema' });
    assert.equal(error?.field, 'spec.versions[1].schema.openAPIV3Schema.type');
  });
});
