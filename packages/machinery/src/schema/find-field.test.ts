import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findField } from './find-field.ts';
import type { OpenApiSchema } from './open-api-schema.ts';

const SCHEMA: OpenApiSchema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { 'a.b': { type: 'string' }, c: { type: 'integer' } } },
    labels: { type: 'object', additionalProperties: { type: 'boolean' } },
    any: { type: 'object' },
  },
};

describe('a path leads', () => {
  const rows: [path: string, expected: string][] = [
    ['.spec.c', 'integer at spec/c'],
    [".spec['a.b']", 'string at spec/a.b'],
    ['.labels.x', 'boolean at labels/x'],
    ['.spec.d', 'does not refer to a valid field'],
    ['.any.x', 'does not refer to a valid field'],
    ['spec.c', 'expected [ or . but got: spec'],
    ['.spec.', 'unexpected end of JSON path'],
    ['.spec[0]', 'expected single quoted string but got 0'],
    [".spec['c'", 'unexpected end of JSON path'],
  ];
  for (const [path, expected] of rows) {
    test(`${path}: ${expected}`, () => {
      const found = findField(path, SCHEMA);
      assert.equal('fault' in found ? found.fault : `${found.schema.type} at ${found.segments.join('/')}`, expected);
    });
  }

  test('without brackets where they are not allowed', () => {
    assert.deepEqual(findField(".spec['c']", SCHEMA, { brackets: false }), { fault: 'array notation is not allowed' });
  });
});
