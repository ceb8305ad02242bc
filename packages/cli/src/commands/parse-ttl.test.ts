import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseTtl } from './parse-ttl.ts';

test('seconds, minutes, hours, days', () => {
  assert.deepEqual(
    ['30s', '15m', '1h', '7d', '10s', '30d'].map(parseTtl),
    [30_000, 900_000, 3_600_000, 604_800_000, 10_000, 2_592_000_000],
  );
});

for (const [text, message] of [
  ['', /"" is not a time/],
  ['1', /"1" is not a time.*30s, 15m, 1h, 7d/],
  ['1.5h', /not a time/],
  ['-1h', /not a time/],
  ['1w', /not a time/],
  ['1h30m', /not a time/],
  ['0s', /too short: 10s at least/],
  ['9s', /too short/],
  ['31d', /too long: 30d at most/],
] as const) {
  test(`refused as wrong usage: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseTtl(text),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
