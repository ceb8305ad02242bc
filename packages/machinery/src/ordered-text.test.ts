import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderedText } from './ordered-text.ts';

test('equal values have one text, others have another', () => {
  assert.equal(orderedText({ a: 1, b: { c: 2, d: [3] } }), orderedText({ b: { d: [3], c: 2 }, a: 1 }));
  const different = [{ a: 1 }, { a: '1' }, { a: [1] }, {}, [], null, { a: 1, b: 1 }, { b: 1 }];
  assert.equal(new Set(different.map(orderedText)).size, different.length);
});
