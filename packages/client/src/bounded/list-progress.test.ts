import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListProgress } from './list-progress.ts';

const LIMITS = { maxPages: 10, maxObjects: 100, maxBytes: 10_000 };

function follow(page: (index: number) => { objects: number; bytes: number; continue?: string }): number {
  const progress = new ListProgress('birch', LIMITS);
  for (let index = 0; index < 1_000; index++) {
    const { continue: token, ...sizes } = page(index);
    progress.add({ ...sizes, continue: token });
    if (token === undefined) return index + 1;
  }
  return Number.NaN;
}

test('a list that ends within the limits is read', () => {
  const pages = follow((index) => ({ objects: 9, bytes: 9, ...(index < 9 ? { continue: `${index}` } : {}) }));
  assert.equal(pages, 10);
});

const refused: [name: string, page: Parameters<typeof follow>[0], message: RegExp][] = [
  ['the same token again and again', () => ({ objects: 0, bytes: 0, continue: 'a' }), /the same continue token twice/],
  ['two tokens in turn', (index) => ({ objects: 0, bytes: 0, continue: `${index % 2}` }), /same continue token twice/],
  ['pages that never end', (index) => ({ objects: 0, bytes: 0, continue: `${index}` }), /more than 10 pages/],
  ['objects that never end', (index) => ({ objects: 30, bytes: 0, continue: `${index}` }), /more than 100 objects/],
  ['bytes that never end', (index) => ({ objects: 1, bytes: 3_000, continue: `${index}` }), /more than 10000 bytes/],
];
for (const [name, page, message] of refused) {
  test(`${name} are refused`, () =>
    assert.throws(() => follow(page), { code: 'ERR_READ_LIMIT', limit: 'pages', message }));
}

test('a list that comes one object at a time has the same limits', () => {
  const progress = new ListProgress('birch', LIMITS);
  assert.throws(() => {
    for (let i = 0; i < 1_000; i++) progress.addObject(1);
  }, /more than 100 objects/);
});
