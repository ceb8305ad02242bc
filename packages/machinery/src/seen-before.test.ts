import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenBefore } from './seen-before.ts';

test('every repetition is named, and no first item', () => {
  assert.deepEqual(['a', 'b', 'a', 'a', '', ''].map(seenBefore()), [false, false, true, true, false, true]);
});
