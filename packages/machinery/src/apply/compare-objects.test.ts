import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { schemaOfKind } from '../schema/builtin-schemas.ts';
import { structuralSchema } from '../schema/custom-resource-schema.ts';
import { compareObjects } from './compare-objects.ts';
import { type FieldSet, pathsOf } from './field-set.ts';
import { formatPath } from './path-element.ts';

const SCHEMA = structuralSchema({
  type: 'object',
  properties: {
    text: { type: 'string', nullable: true },
    atomic: { type: 'array', items: { type: 'string' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, a: { type: 'integer' } } },
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
  },
});

function texts(set: FieldSet): string[] {
  return [...pathsOf(set)].map(formatPath);
}

describe('in which fields two objects differ', () => {
  type Row = [name: string, before: object, after: object, added: string[], modified: string[], removed: string[]];
  const rows: Row[] = [
    ['none', { text: 'a', set: ['x'] }, { set: ['x'], text: 'a' }, [], [], []],
    ['a leaf', { text: 'a' }, { text: 'b' }, [], ['.text'], []],
    ['a null', { text: 'a' }, { text: null }, [], ['.text'], []],
    ['a key', { labels: { a: '1' } }, { labels: { b: '1' } }, ['.labels.b'], [], ['.labels.a']],
    ['a whole map', {}, { labels: { a: '1' } }, ['.labels', '.labels.a'], [], []],
    ['a whole map again', { labels: { a: '1' } }, {}, [], [], ['.labels', '.labels.a']],
    ['a list as a whole', { atomic: ['a'] }, { atomic: ['b'] }, [], ['.atomic'], []],
    ['an item of a set', { set: ['a'] }, { set: ['b'] }, ['.set[="b"]'], [], ['.set[="a"]']],
    ['not the order of a set', { set: ['a', 'b'] }, { set: ['b', 'a'] }, [], [], []],
    [
      'an item by its key',
      {
        map: [
          { name: 'x', a: 1 },
          { name: 'y', a: 1 },
        ],
      },
      {
        map: [
          { name: 'y', a: 2 },
          { name: 'x', a: 1 },
        ],
      },
      [],
      ['.map[name="y"].a'],
      [],
    ],
    [
      'one of two items with the same key goes',
      {
        map: [
          { name: 'x', a: 1 },
          { name: 'x', a: 2 },
        ],
      },
      { map: [{ name: 'x', a: 2 }] },
      ['.map[name="x"]', '.map[name="x"].a', '.map[name="x"].name'],
      [],
      ['.map[name="x"]'],
    ],
    ['another kind of value', { free: { a: 1 } }, { free: 3 }, [], ['.free'], ['.free.a']],
  ];
  for (const [name, before, after, added, modified, removed] of rows) {
    test(name, () => {
      const difference = compareObjects(before, after, SCHEMA);
      assert.deepEqual(
        { added: texts(difference.added), modified: texts(difference.modified), removed: texts(difference.removed) },
        { added, modified, removed },
      );
    });
  }
});

test('a struct that an object does not show is there, with nothing in it', () => {
  const pod = schemaOfKind({ group: '', version: 'v1', kind: 'Pod' })!;
  const container = (more: object) => ({ spec: { containers: [{ name: 'a', ...more }] } });
  const { added } = compareObjects(container({}), container({ resources: {} }), pod);
  assert.deepEqual(texts(added), []);
});

test('what is added on the way there is removed on the way back', () => {
  const value = fc.record(
    {
      text: fc.constantFrom('a', 'b'),
      atomic: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
      labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2')),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, value, (a, b) => {
      const there = compareObjects(a, b, SCHEMA);
      const back = compareObjects(b, a, SCHEMA);
      assert.deepEqual(texts(there.added), texts(back.removed));
      assert.deepEqual(texts(there.modified), texts(back.modified));
    }),
  );
});
