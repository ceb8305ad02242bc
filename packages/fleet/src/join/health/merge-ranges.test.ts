import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeRanges } from './merge-ranges.ts';

describe('ranges of addresses', () => {
  for (const [what, ranges, expected] of [
    ['none', [], []],
    ['two halves', ['10.0.1.0/24', '10.0.0.0/24'], ['10.0.0.0/23']],
    ['neighbours that are no halves of one', ['10.0.1.0/24', '10.0.2.0/24'], ['10.0.1.0/24', '10.0.2.0/24']],
    ['halves of halves', ['10.0.0.0/25', '10.0.0.128/25', '10.0.1.0/24', '10.0.2.0/23'], ['10.0.0.0/22']],
    ['one twice', ['10.0.0.0/24', '10.0.0.0/24'], ['10.0.0.0/24']],
    ['both families', ['fd00:10:1::/64', '10.0.0.0/24', 'fd00:10:1:1::/64'], ['10.0.0.0/24', 'fd00:10:1::/63']],
    ['all there is', ['0.0.0.0/1', '128.0.0.0/1'], ['0.0.0.0/0']],
    ['what is no range stays', ['pods', '10.0.0.0/33', '300.0.0.0/8'], ['pods', '10.0.0.0/33', '300.0.0.0/8']],
  ] as const) {
    test(what, () => assert.deepEqual(mergeRanges(ranges), expected));
  }

  test('the ranges of many nodes are one', () => {
    const nodes = Array.from({ length: 4096 }, (_, index) => `10.${64 + (index >> 8)}.${index & 255}.0/24`);
    assert.deepEqual(mergeRanges(nodes.toReversed()), ['10.64.0.0/12']);
  });
});
