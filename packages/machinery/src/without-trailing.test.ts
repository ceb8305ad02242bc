import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutTrailing } from './without-trailing.ts';

test('only what is at the end is removed', () => {
  for (const [text, expected] of [
    ['', ''],
    ['a', 'a'],
    ['a//', 'a'],
    ['//', ''],
    ['/a/b/', '/a/b'],
    [`${'/'.repeat(1_000_000)}a`, `${'/'.repeat(1_000_000)}a`],
  ] as const)
    assert.equal(withoutTrailing(text, '/'), expected);
});
