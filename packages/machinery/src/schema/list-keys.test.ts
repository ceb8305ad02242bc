import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listItemsByKey } from './list-keys.ts';
import { structuralSchema } from './custom-resource-schema.ts';

const schema = structuralSchema({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k', 'n'],
  items: { type: 'object' },
});

test('an item is found by its keys, and one that comes twice is not', () => {
  const first = { k: 'a', n: 1 };
  const find = listItemsByKey(schema, [first, { k: 'b' }, { k: 'b' }, 'odd']);
  assert.equal(find({ n: 1, k: 'a', v: 2 }), first);
  assert.equal(find({ k: 'a', n: '1' }), undefined);
  assert.equal(find({ k: 'b' }), undefined);
  assert.equal(find('odd'), undefined);
});

test('a list of many items is searched in no more time than their number', () => {
  const items = Array.from({ length: 50_000 }, (_, k) => ({ k, n: 1 }));
  const find = listItemsByKey(schema, items);
  const before = performance.now();
  for (const item of items) assert.equal(find({ ...item }), item);
  assert.ok(performance.now() - before < 5_000);
});
