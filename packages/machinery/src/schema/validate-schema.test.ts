import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfKind } from './builtin-schemas.ts';
import { customResourceSchema, structuralSchema } from './custom-resource-schema.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { validateSchema, validateStatusSchema } from './validate-schema.ts';

/** The faults of the field `f`, as `TYPE field: message`. */
function faultsOf(schema: OpenApiSchema, value: unknown, old?: unknown): string[] {
  const compiled = structuralSchema({ type: 'object', properties: { f: schema } });
  const errors = validateSchema({ f: value }, compiled, old === undefined ? {} : { old: { f: old } });
  return errors.map(({ type, field, message }) => `${type.slice('FieldValue'.length)} ${field}: ${message}`);
}

const STRING: OpenApiSchema = { type: 'string' };
const KEYED: OpenApiSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', required: ['name'], properties: { name: STRING, n: { type: 'integer', maximum: 5 } } },
};

describe('faults of values, in the words of a kube-apiserver', () => {
  const rows: [schema: OpenApiSchema, value: unknown, faults: string[]][] = [
    [STRING, 'x', []],
    [{ type: 'integer' }, 'x', ['TypeInvalid f: Invalid value: "string": f in body must be of type integer: "string"']],
    [
      { type: 'integer' },
      1.5,
      [
        'TypeInvalid f: Invalid value: "number": f in body must be of type integer: "number"',
        'Invalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
      ],
    ],
    [{ type: 'number' }, 3, []],
    [STRING, null, ['TypeInvalid f: Invalid value: "null": f in body must be of type string: "null"']],
    [{ ...STRING, nullable: true }, null, []],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      ['TypeInvalid f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"'],
    ],
    [{ ...STRING, maxLength: 2 }, '日本語', ['TooLong f: Too long: may not be more than 2 bytes']],
    [{ ...STRING, minLength: 2 }, '𝒳', ['Invalid f: Invalid value: "𝒳": f in body should be at least 2 chars long']],
    [{ ...STRING, pattern: '^a+$' }, 'b', ['Invalid f: Invalid value: "b": f in body should match \'^a+$\'']],
    [{ ...STRING, format: 'ipv4' }, 'b', ['TypeInvalid f: Invalid value: "b": f in body must be of type ipv4: "b"']],
    [{ ...STRING, enum: ['a', 'b'] }, 'c', ['NotSupported f: Unsupported value: "c": supported values: "a", "b"']],
    [
      { type: 'integer', minimum: 3 },
      2,
      ['Invalid f: Invalid value: 2: f in body should be greater than or equal to 3'],
    ],
    [
      { type: 'integer', minimum: 3, exclusiveMinimum: true },
      3,
      ['Invalid f: Invalid value: 3: f in body should be greater than 3'],
    ],
    [{ type: 'integer', maximum: 3 }, 4, ['Invalid f: Invalid value: 4: f in body should be less than or equal to 3']],
    [
      { type: 'number', multipleOf: 0.5 },
      1.3,
      ['Invalid f: Invalid value: 1.3: f in body should be a multiple of 0.5'],
    ],
    [
      { type: 'array', items: STRING, minItems: 1 },
      [],
      ['Invalid f: Invalid value: 0: f in body should have at least 1 items'],
    ],
    [{ type: 'array', items: STRING, maxItems: 1 }, ['a', 'b'], ['TooMany f: Too many: 2: must have at most 1 item']],
    [
      { type: 'array', items: STRING },
      ['a', 1],
      ['TypeInvalid f[1]: Invalid value: "integer": f[1] in body must be of type string: "integer"'],
    ],
    [
      { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
      ['a', 'b', 'a', 'a'],
      ['Duplicate f[2]: Duplicate value: "a"'],
    ],
    [KEYED, [{ name: 'a' }, { name: 'a', n: 1 }], ['Duplicate f[1]: Duplicate value: {"name":"a"}']],
    [KEYED, [{ n: 1 }], ['Required f[0].name: Required value']],
    [{ type: 'object', required: ['a'] }, {}, ['Required f.a: Required value']],
    [{ type: 'object', required: ['toString'] }, {}, ['Required f.toString: Required value']],
    [{ type: 'object', required: ['a'], properties: { a: { ...STRING, default: 'x' } } }, {}, []],
    [
      { type: 'object', additionalProperties: STRING },
      { a: 1 },
      ['TypeInvalid f.a: Invalid value: "integer": f.a in body must be of type string: "integer"'],
    ],
    [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, ['TooMany f: Too many: 2: must have at most 1 item']],
    [
      {
        type: 'object',
        properties: { k: STRING, n: STRING },
        anyOf: [{ properties: { k: { enum: ['a'] } } }, { properties: { k: { enum: ['b'] }, n: {} } }],
      },
      { k: 'c', n: 'x' },
      // Of the alternative that says most of the value it is told why it does not fit.
      [
        'Invalid <nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
        'NotSupported f.k: Unsupported value: "c": supported values: "b"',
      ],
    ],
    [
      { type: 'object', not: { required: ['a'] } },
      { a: 1 },
      ['Invalid <nil>: Invalid value: "": "f" must not validate the schema (not)'],
    ],
    [
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { a: 1, b: 1 },
      [
        'Invalid <nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      { ...STRING, allOf: [{ pattern: '^b' }, { pattern: 'z$' }] },
      'a',
      [
        'Invalid f: Invalid value: "a": f in body should match \'^b\'',
        'Invalid f: Invalid value: "a": f in body should match \'z$\'',
        'Invalid <nil>: Invalid value: "": "f" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      { ...STRING, enum: ['a'] },
      5,
      [
        'TypeInvalid f: Invalid value: "integer": f in body must be of type string: "integer"',
        'NotSupported f: Unsupported value: 5: supported values: "a"',
      ],
    ],
    [
      { type: 'integer', minimum: 1.5 },
      0,
      [
        'Invalid <nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in f',
        'Invalid f: Invalid value: 0: f in body should be greater than or equal to 1.5',
      ],
    ],
    [{ type: 'number', maximum: 2.5 }, 3, ['Invalid f: Invalid value: 3: f in body should be less than or equal to 2']],
    [
      { ...STRING, format: 'date' },
      5,
      ['TypeInvalid f: Invalid value: "int64": f in body must be of type date: "int64"'],
    ],
    [
      { type: 'object', properties: { a: STRING }, additionalProperties: false },
      { a: 1, b: 1 },
      [
        'Invalid f.b: Invalid value: "": f.b in body is a forbidden property',
        'TypeInvalid f.a: Invalid value: "integer": f.a in body must be of type string: "integer"',
      ],
    ],
    [
      { type: 'object', required: ['a'], 'x-kubernetes-validations': [{ rule: 'true' }] },
      {},
      [
        'Required f.a: Required value',
        'Invalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    ],
    [
      { ...STRING, allOf: [{ pattern: '^a' }, { pattern: 'z$' }] },
      'ab',
      [
        'Invalid f: Invalid value: "ab": f in body should match \'z$\'',
        'Invalid <nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
      ],
    ],
  ];
  for (const [schema, value, faults] of rows) {
    test(`${JSON.stringify(value)}: ${faults[0] ?? 'fine'}`, () => assert.deepEqual(faultsOf(schema, value), faults));
  }
});

describe('what was wrong before and did not change may stay', () => {
  const short: OpenApiSchema = { ...STRING, maxLength: 1 };
  const rows: [name: string, schema: OpenApiSchema, value: unknown, old: unknown, faults: number][] = [
    ['a value', short, 'long', 'long', 0],
    ['a value that changed', short, 'longer', 'long', 1],
    [
      'a field beside one that changed',
      { type: 'object', properties: { a: short, b: STRING } },
      { a: 'long', b: '2' },
      { a: 'long', b: '1' },
      0,
    ],
    ['an item by its key', KEYED, [{ name: 'b' }, { name: 'a', n: 9 }], [{ name: 'a', n: 9 }], 0],
    [
      'an item of which there were two',
      KEYED,
      [{ name: 'a', n: 9 }],
      [
        { name: 'a', n: 8 },
        { name: 'a', n: 9 },
      ],
      1,
    ],
    ['an item that changed', KEYED, [{ name: 'a', n: 8 }], [{ name: 'a', n: 9 }], 1],
    ['an item of a list without keys', { type: 'array', items: short }, ['long', 'b'], ['long'], 1],
    ['a repeated item', { ...KEYED }, [{ name: 'a' }, { name: 'a' }, { name: 'b' }], [{ name: 'a' }, { name: 'a' }], 0],
  ];
  for (const [name, schema, value, old, faults] of rows) {
    test(name, () => assert.equal(faultsOf(schema, value, old).length, faults));
  }
});

test('the path says where the value stands', () => {
  const schema = structuralSchema({ type: 'object', properties: { a: { type: 'array', items: STRING } } });
  assert.deepEqual(
    validateSchema({ a: [1] }, schema, { path: 'spec.x' }).map(({ field }) => field),
    ['spec.x.a[0]'],
  );
});

describe('resources within a resource', () => {
  const schema = customResourceSchema({
    type: 'object',
    properties: {
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  });
  const rows: [name: string, template: object, faults: string[]][] = [
    ['are fine', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { a: 'b' } } }, []],
    ['have a kind and a version', {}, ['template.apiVersion: Required value', 'template.kind: Required value']],
    [
      'have labels like any other',
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { a: '-' } } },
      [
        "template.metadata.labels: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'have metadata that can be read',
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 3 } },
      [
        'template.metadata: Invalid value: {"name":3}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
      ],
    ],
    [
      'have a version that is one',
      { apiVersion: 'a/b/c', kind: 'Pod' },
      ['template.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
  ];
  for (const [name, template, faults] of rows) {
    test(name, () => {
      const errors = validateSchema({ apiVersion: 'e/v1', kind: 'W', template }, schema);
      assert.deepEqual(
        errors.map(({ field, message }) => `${field}: ${message}`),
        faults,
      );
    });
  }
});

test('objects of built-in kinds have schemas too', () => {
  const deployment = schemaOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
  assert.deepEqual(
    validateSchema({ spec: { replicas: 'x' } }, deployment).map(({ field, message }) => `${field}: ${message}`),
    [
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
      'spec.selector: Required value',
    ],
  );
});

describe('an update of the status', () => {
  const schema = customResourceSchema({
    type: 'object',
    required: ['spec'],
    properties: { status: { type: 'object', properties: { n: { type: 'integer' } } } },
  });
  const faultsOfStatus = (status: unknown) =>
    validateStatusSchema({ metadata: {}, status }, schema, { old: { metadata: {} } }).map(
      ({ field, message }) => `${field}: ${message}`,
    );

  test('is checked as a value of its own, and the rest is not', () => {
    assert.deepEqual(faultsOfStatus({ n: 'x' }), [
      'status.n: Invalid value: "string": n in body must be of type integer: "string"',
    ]);
    assert.deepEqual(faultsOfStatus({ n: 1 }), []);
    assert.deepEqual(faultsOfStatus(undefined), []);
  });
});
