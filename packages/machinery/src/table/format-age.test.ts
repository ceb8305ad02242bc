import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAge, translateTimestampSince } from './format-age.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

describe('formatAge', () => {
  const rows: [milliseconds: number, text: string][] = [
    [-2 * S, '<invalid>'],
    [-2 * S + 1, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [S - 1, '0s'],
    [119 * S + 999, '119s'],
    [2 * M, '2m'],
    [2 * M + 5 * S, '2m5s'],
    [10 * M - 1, '9m59s'],
    [10 * M + 5 * S, '10m'],
    [3 * H - 1, '179m'],
    [3 * H, '3h'],
    [3 * H + 59 * M, '3h59m'],
    [8 * H + 59 * M, '8h'],
    [2 * D - 1, '47h'],
    [2 * D, '2d'],
    [7 * D + 23 * H, '7d23h'],
    [8 * D + 23 * H, '8d'],
    [2 * Y - 1, '729d'],
    [2 * Y, '2y'],
    [6 * Y + 326 * D, '6y326d'],
    [8 * Y + 300 * D, '8y'],
    [Number.NaN, '<invalid>'],
  ];
  for (const [milliseconds, text] of rows) {
    test(`${milliseconds} ms is ${text}`, () => assert.equal(formatAge(milliseconds), text));
  }
});

test('translateTimestampSince', () => {
  const now = Date.parse('2026-01-02T03:04:05Z');
  assert.equal(translateTimestampSince('2026-01-02T03:03:05Z', now), '60s');
  assert.equal(translateTimestampSince('2026-01-02T03:03:05.500000Z', now), '59s');
  assert.equal(translateTimestampSince(undefined, now), '<unknown>');
  assert.equal(translateTimestampSince(null, now), '<unknown>');
  assert.equal(translateTimestampSince('yesterday', now), '<invalid>');
});
