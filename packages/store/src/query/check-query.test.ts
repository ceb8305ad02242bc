import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQuery } from './check-query.ts';
import type { FieldRequirement, LabelRequirement, Query } from './query.ts';

const label = (requirement: object): Query => ({ labels: [requirement as LabelRequirement] });
const field = (requirement: object): Query => ({ fields: [requirement as FieldRequirement] });

const bad: [string, Query, RegExp][] = [
  ['limit 0', { limit: 0 }, /^limit: 0 is not a positive whole number$/],
  ['limit 1.5', { limit: 1.5 }, /^limit: 1.5 /],
  ['since', { since: Number.NaN }, /^since: NaN is no time/],
  ['before', { before: Number.POSITIVE_INFINITY }, /^before: Infinity is no time/],
  ['order', { orderBy: [{ field: 'pg_sleep(2)' as 'name' }] }, /^orderBy: "pg_sleep\(2\)" is none of namespace, name,/],
  ['order twice', { orderBy: [{ field: 'uid' }, { field: 'uid', descending: true }] }, /^orderBy: uid is there twice$/],
  ['label operator', label({ key: 'a', operator: '~', values: [] }), /^labels: "a": "~" is none of the operators = !=/],
  ['inherited operator', label({ key: 'a', operator: 'toString', values: [] }), /"toString" is none of the operators/],
  [
    'label without value',
    label({ key: 'a', operator: 'in', values: [] }),
    /^labels: "a": in takes one value or more, not 0$/,
  ],
  ['label, two values', label({ key: 'a', operator: '=', values: ['x', 'y'] }), /= takes one value, not 2$/],
  ['label exists x', label({ key: 'a', operator: 'exists', values: ['x'] }), /exists takes no value, not 1$/],
  ['label > x', label({ key: 'a', operator: 'gt', values: ['x'] }), /gt compares with an integer, and "x" is none$/],
  [
    'field operator',
    field({ path: '.a', operator: 'like', values: ['x'] }),
    /^fields: "\.a": "like" is none of the operators/,
  ],
  [
    'field without value',
    field({ path: '.a', operator: '<', values: [] }),
    /^fields: "\.a": < takes one value, not 0$/,
  ],
  [
    'too many labels',
    { labels: Array.from({ length: 3_000 }, (_, n) => ({ key: `k${n}`, operator: 'exists' as const, values: [] })) },
    /^labels: 3000 conditions are too many: at most 20 are allowed$/,
  ],
  [
    'too many fields',
    { fields: Array.from({ length: 1_200 }, () => ({ path: '.a', operator: 'exists' as const, values: [] })) },
    /^fields: 1200 conditions are too many: at most 50 are allowed$/,
  ],
  [
    'too many values',
    label({ key: 'a', operator: 'in', values: Array.from({ length: 1_001 }, String) }),
    /^labels: "a": 1001 values are too many: at most 1000 are allowed$/,
  ],
  [
    'too many []',
    field({ path: `.a${'[]'.repeat(70)}`, operator: 'exists', values: [] }),
    /: 70 \[\] are too many: at most 8 are allowed$/,
  ],
  [
    'too many segments',
    field({ path: '.a'.repeat(65), operator: 'exists', values: [] }),
    /: 65 segments are too many: at most 64 are allowed$/,
  ],
  [
    'a long path',
    field({ path: `.${'a'.repeat(3_000)}`, operator: 'exists', values: [] }),
    /has 3001 characters: at most 2048/,
  ],
  ['field path', field({ path: '.a[', operator: 'exists', values: [] }), /^the field path "\.a\[": expected/],
];

for (const [name, query, message] of bad) {
  test(`${name} is refused`, () => assert.throws(() => checkQuery(query), { code: 'INVALID_QUERY', message }));
}

test('the order is made total', () => {
  const { orderBy } = checkQuery({ orderBy: [{ field: 'name', descending: true }, { field: 'kind' }] });
  assert.deepEqual(
    orderBy.map(({ field: name, descending }) => (descending ? `-${name}` : name)),
    ['-name', 'kind', 'namespace', 'cluster', 'group', 'version', 'resource'],
  );
});
