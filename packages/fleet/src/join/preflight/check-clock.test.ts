import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clockFinding, clockSkew } from './check-clock.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

describe('the clock of another machine', () => {
  test('what the way takes, and the rounding to seconds, is no skew', () => {
    assert.equal(clockSkew('Sat, 21 Nov 2026 12:00:00 GMT', NOON + 900, NOON + 950), 0);
    assert.equal(clockSkew('Sat, 21 Nov 2026 12:00:00 GMT', NOON - 5_000, NOON + 5_000), 0);
  });

  test('ahead, behind, untold', () => {
    assert.equal(clockSkew('Sat, 21 Nov 2026 12:10:00 GMT', NOON, NOON), 600_000);
    assert.equal(clockSkew('Sat, 21 Nov 2026 11:50:00 GMT', NOON, NOON), -599_000);
    assert.equal(clockSkew(undefined, NOON, NOON), undefined);
    assert.equal(clockSkew('today', NOON, NOON), undefined);
  });

  const rows: [aheadMs: number | undefined, state: string, message: RegExp][] = [
    [0, 'Fine', /agree on the time/],
    [-45_000, 'Remark', /of the hub is 45 s behind this machine's$/],
    [
      420_000,
      'Fault',
      /of the hub is 7 min ahead of this machine's: certificates would not be valid yet, or no longer$/,
    ],
    [-3 * 3_600_000, 'Fault', /of the hub is 3 h behind/],
    [undefined, 'Remark', /does not tell its time/],
  ];
  for (const [aheadMs, state, message] of rows) {
    test(`${aheadMs} ms: ${state}`, () => {
      const finding = clockFinding('clock', 'the hub', aheadMs);
      assert.equal(finding.state, state);
      assert.match(finding.message, message);
    });
  }
});
