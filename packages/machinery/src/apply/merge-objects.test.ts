import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { structuralSchema } from '../schema/custom-resource-schema.ts';
import { mergeObjects } from './merge-objects.ts';

const SCHEMA = structuralSchema({
  type: 'object',
  properties: {
    text: { type: 'string' },
    atomic: { type: 'array', items: { type: 'string' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, a: { type: 'integer' }, b: { type: 'integer' } },
      },
    },
    selector: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
});

describe('what comes of applying one object to another', () => {
  const rows: [name: string, live: object, applied: object, merged: object][] = [
    ['a scalar is replaced', { text: 'a' }, { text: 'b' }, { text: 'b' }],
    [
      'what is not mentioned stays',
      { text: 'a', labels: { x: '1' } },
      { labels: { y: '1' } },
      { text: 'a', labels: { x: '1', y: '1' } },
    ],
    [
      'null is kept where there is nothing, as Go writes creationTimestamp',
      { labels: {} },
      { text: null },
      { labels: {}, text: null },
    ],
    ['an atomic list is replaced', { atomic: ['a', 'b'] }, { atomic: ['c'] }, { atomic: ['c'] }],
    ['an atomic map is replaced', { selector: { a: '1' } }, { selector: { b: '1' } }, { selector: { b: '1' } }],
    ['a list that is not spelled out is atomic', { free: { l: [1, 2] } }, { free: { l: [3] } }, { free: { l: [3] } }],
    [
      'free content is merged by key',
      { free: { a: { b: 1 } } },
      { free: { a: { c: 1 } } },
      { free: { a: { b: 1, c: 1 } } },
    ],
    ['a value may become another kind of value', { free: { a: { b: 1 } } }, { free: { a: 3 } }, { free: { a: 3 } }],
    ['items of a set are added', { set: ['a', 'b'] }, { set: ['c', 'b'] }, { set: ['a', 'c', 'b'] }],
    ['an empty list adds nothing', { set: ['a'] }, { set: [] }, { set: ['a'] }],
    [
      'items are merged by their keys',
      {
        map: [
          { name: 'x', a: 1 },
          { name: 'y', a: 1 },
        ],
      },
      { map: [{ name: 'y', b: 2 }, { name: 'z' }] },
      { map: [{ name: 'x', a: 1 }, { name: 'y', a: 1, b: 2 }, { name: 'z' }] },
    ],
    [
      'of an item that comes twice nothing is kept',
      {
        map: [
          { name: 'x', a: 1 },
          { name: 'x', a: 2 },
        ],
      },
      { map: [{ name: 'x', b: 3 }] },
      { map: [{ name: 'x', b: 3 }] },
    ],
  ];
  for (const [name, live, applied, merged] of rows) {
    test(name, () => assert.deepEqual(mergeObjects(live, applied, SCHEMA), merged));
  }
});

test('a merged list has every item once, those of the applied one in their order', () => {
  const items = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'));
  fc.assert(
    fc.property(items, items, (live: string[], applied: string[]) => {
      const { set } = mergeObjects({ set: live }, { set: applied }, SCHEMA) as { set: string[] };
      assert.deepEqual([...set].sort(), [...new Set([...live, ...applied])].sort());
      assert.deepEqual(
        set.filter((item) => applied.includes(item)),
        applied,
      );
      const others = live.filter((item) => !applied.includes(item));
      assert.deepEqual(
        set.filter((item) => others.includes(item)),
        others,
      );
    }),
  );
});
