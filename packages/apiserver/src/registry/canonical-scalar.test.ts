import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalTime } from './canonical-scalar.ts';

const rows: [value: string, seconds: string, micro: string][] = [
  ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.000000Z'],
  ['2020-01-02T03:04:05.123456Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z'],
  ['2020-01-02T03:04:05.5Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.500000Z'],
  ['2020-01-02T03:04:05.123456789Z', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z'],
  ['2020-01-02T05:04:05.123456+02:00', '2020-01-02T03:04:05Z', '2020-01-02T03:04:05.123456Z'],
];

for (const [value, seconds, micro] of rows) {
  test(`${value} in UTC, to a second and to a microsecond`, () => {
    assert.equal(
      canonicalTime(value, false, (why) => new Error(why)),
      seconds,
    );
    assert.equal(
      canonicalTime(value, true, (why) => new Error(why)),
      micro,
    );
  });
}
