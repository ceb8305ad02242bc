import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, percentile, spread } from './statistics.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

for (const { name, values, percent, want } of [
  { name: 'of a hundred the 50th is the 50th', values: hundred, percent: 50, want: 50 },
  { name: 'of a hundred the 99th is the 99th', values: hundred, percent: 99, want: 99 },
  { name: 'of a few the 99th is the largest', values: [5, 1, 3], percent: 99, want: 5 },
  { name: 'the 0th is the smallest', values: [5, 1, 3], percent: 0, want: 1 },
  { name: 'numbers are compared as numbers', values: [10, 9, 100], percent: 50, want: 10 },
  { name: 'of none there is none', values: [], percent: 50, want: Number.NaN },
]) {
  test(`percentile: ${name}`, () => assert.equal(percentile(values, percent), want));
}

test('median: the middle one, or the mean of two', () => {
  assert.equal(median([30, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 30]), 3);
  assert.equal(median([7]), 7);
  assert.ok(Number.isNaN(median([])));
});

test('spread: how far the rounds lie apart, as a part of the median', () => {
  assert.equal(spread([10, 8, 12]), 0.4);
  assert.equal(spread([10]), 0);
});
