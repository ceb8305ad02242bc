import type { Fields } from '../objects/generated-kind.ts';

/** One field of a custom resource: its schema, values that are taken, and values that are refused. */
export interface SchemaFeature {
  name: string;
  schema: Fields;
  valid: readonly unknown[];
  invalid: readonly unknown[];
}

const object = (properties: Fields, more: Fields = {}): Fields => ({ type: 'object', properties, ...more });
const entry = object(
  { name: { type: 'string' }, port: { type: 'integer', default: 80 }, note: { type: 'string' } },
  { required: ['name'] },
);

/** What structural schemas can say of a field. */
export const SCHEMA_FEATURES: readonly SchemaFeature[] = [
  { name: 'string', schema: { type: 'string' }, valid: ['a', ''], invalid: [5, true, ['a'], { a: 1 }] },
  { name: 'length', schema: { type: 'string', minLength: 2, maxLength: 4 }, valid: ['abc'], invalid: ['a', 'abcde'] },
  { name: 'pattern', schema: { type: 'string', pattern: '^[a-c]+$' }, valid: ['abc'], invalid: ['abd'] },
  { name: 'enumeration', schema: { type: 'string', enum: ['one', 'two'] }, valid: ['one'], invalid: ['three'] },
  {
    name: 'integer',
    schema: { type: 'integer', minimum: 1, maximum: 10 },
    valid: [1, 10],
    invalid: [0, 11, 'five', 2.5],
  },
  {
    name: 'exclusive bounds',
    schema: { type: 'integer', minimum: 1, exclusiveMinimum: true },
    valid: [2],
    invalid: [1],
  },
  { name: 'number', schema: { type: 'number' }, valid: [1.5, 2, -0.25], invalid: ['1.5'] },
  { name: 'multiple', schema: { type: 'integer', multipleOf: 5 }, valid: [10], invalid: [11] },
  { name: 'boolean', schema: { type: 'boolean' }, valid: [true, false], invalid: ['true', 1] },
  {
    name: 'list',
    schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
    valid: [['a']],
    invalid: [[], ['a', 'b', 'c'], 'a', [1]],
  },
  {
    name: 'set',
    schema: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    valid: [['a', 'b']],
    invalid: [['a', 'a']],
  },
  {
    name: 'list map',
    schema: { type: 'array', items: entry, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    valid: [[{ name: 'a' }, { name: 'b', port: 8, extra: 1 }]],
    invalid: [[{ name: 'a' }, { name: 'a' }], [{ port: 1 }]],
  },
  {
    name: 'map',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    valid: [{ a: 1, b: 2 }],
    invalid: [{ a: 'x' }],
  },
  {
    name: 'properties',
    schema: { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1, maxProperties: 2 },
    valid: [{ a: 'x' }],
    invalid: [{}, { a: '1', b: '2', c: '3' }],
  },
  {
    name: 'required',
    schema: object({ must: { type: 'string' }, may: { type: 'string' } }, { required: ['must'] }),
    valid: [{ must: 'x', unknown: 1 }],
    invalid: [{ may: 'x' }],
  },
  { name: 'nullable', schema: { type: 'string', nullable: true }, valid: [null, 'x'], invalid: [3] },
  {
    name: 'null for what is not nullable',
    schema: object({ a: { type: 'string' } }),
    valid: [{ a: null }],
    invalid: [],
  },
  {
    name: 'nullable default',
    schema: object({ a: { type: 'string', nullable: true, default: 'd' }, b: { type: 'string', default: 'e' } }),
    valid: [{ a: null, b: null }, {}],
    invalid: [],
  },
  {
    name: 'nested defaults',
    schema: {
      ...object({
        level: { type: 'integer', default: 3 },
        deep: { ...object({ x: { type: 'string', default: 'y' } }), default: {} },
      }),
      default: {},
    },
    valid: [{}, { level: 1 }, { deep: {} }],
    invalid: ['x'],
  },
  { name: 'int or string', schema: { 'x-kubernetes-int-or-string': true }, valid: [5, '50%'], invalid: [1.5, true] },
  {
    name: 'int or string by anyOf',
    schema: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
    valid: [7, 'x'],
    invalid: [[]],
  },
  {
    name: 'preserve unknown',
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: object({ a: { type: 'string' } }) },
    },
    valid: [{ any: { b: [1] }, known: { a: 'x', c: 1 } }],
    invalid: ['text'],
  },
  {
    name: 'anything',
    schema: { 'x-kubernetes-preserve-unknown-fields': true },
    valid: [1, 'x', [null], { a: 1 }],
    invalid: [],
  },
  {
    name: 'embedded resource',
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    valid: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', labels: { a: 'b' } }, spec: { any: 1 } }],
    invalid: [{ kind: 'Pod' }, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Not A Name!' } }],
  },
  {
    name: 'embedded and pruned',
    schema: object({ spec: object({ a: { type: 'string' } }) }, { 'x-kubernetes-embedded-resource': true }),
    valid: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', odd: 1 }, spec: { a: 'x', b: 'y' }, other: 1 }],
    invalid: [],
  },
  {
    name: 'date and time',
    schema: { type: 'string', format: 'date-time' },
    valid: ['2026-01-02T03:04:05Z'],
    invalid: ['yesterday'],
  },
  { name: 'date', schema: { type: 'string', format: 'date' }, valid: ['2026-01-02'], invalid: ['2026-13-02'] },
  { name: 'bytes', schema: { type: 'string', format: 'byte' }, valid: ['YWJj'], invalid: ['***'] },
  { name: 'address', schema: { type: 'string', format: 'ipv4' }, valid: ['192.0.2.1'], invalid: ['300.1.1.1'] },
  { name: 'uri', schema: { type: 'string', format: 'uri' }, valid: ['https://x.example/'], invalid: ['::'] },
  {
    name: 'uuid',
    schema: { type: 'string', format: 'uuid' },
    valid: ['0a0a0a0a-1111-4222-8333-0123456789ab'],
    invalid: ['x'],
  },
  { name: 'int32', schema: { type: 'integer', format: 'int32' }, valid: [2_147_483_647], invalid: [2_147_483_648] },
  { name: 'all of', schema: { type: 'integer', allOf: [{ minimum: 2 }, { maximum: 4 }] }, valid: [3], invalid: [1, 5] },
  { name: 'one of', schema: { type: 'integer', oneOf: [{ minimum: 5 }, { maximum: 6 }] }, valid: [1, 9], invalid: [5] },
  { name: 'not', schema: { type: 'string', not: { enum: ['bad'] } }, valid: ['good'], invalid: ['bad'] },
  {
    name: 'any of required',
    schema: object(
      { a: { type: 'string' }, b: { type: 'string' } },
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    ),
    valid: [{ a: 'x' }],
    invalid: [{}],
  },
  {
    name: 'pruned list items',
    schema: { type: 'array', items: object({ a: { type: 'string' } }) },
    valid: [[{ a: 'x', b: 'y' }, {}]],
    invalid: [[null]],
  },
];
