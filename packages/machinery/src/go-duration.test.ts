import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatGoDuration, isGoDuration, parseGoDuration } from './go-duration.ts';

describe('durations as Go prints them', () => {
  const rows: [nanos: number, text: string][] = [
    [0, '0s'],
    [1, '1ns'],
    [1500, '1.5µs'],
    [2_000_000, '2ms'],
    [1_500_000_000, '1.5s'],
    [60e9, '1m0s'],
    [3_661.5e9, '1h1m1.5s'],
    [-90e9, '-1m30s'],
  ];
  for (const [nanos, text] of rows) {
    test(text, () => {
      assert.equal(formatGoDuration(nanos), text);
      assert.equal(parseGoDuration(text), nanos);
      assert.ok(isGoDuration(text));
    });
  }

  for (const text of ['0', '+5s', '.5h', '1.s', '3us', '3\u03bcs'])
    test(`${text} is one`, () => assert.ok(isGoDuration(text)));
  for (const text of ['', '5', 's', '1d', '1 s', '1s ', '.s', '--1s', '1e3s']) {
    test(`"${text}" is none`, () => assert.ok(!isGoDuration(text)));
  }

  test('are read as they were printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e15, max: 1e15 }), (nanos) =>
        assert.equal(parseGoDuration(formatGoDuration(nanos)), nanos),
      ),
    );
  });
});
