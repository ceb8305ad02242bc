import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AttendedTime } from './attended-time.ts';

describe('attended time', () => {
  /** Proofs at these seconds; `x` is one of the contrary. */
  const attended = (...proofs: (number | 'x')[]): number => {
    const time = new AttendedTime(7_000);
    for (const proof of proofs) {
      if (proof === 'x') time.deaf();
      else time.heard(proof * 1_000);
    }
    return time.ms / 1_000;
  };

  for (const [what, proofs, expected] of [
    ['nothing was heard yet', [], 0],
    ['the first proof tells nothing of before', [100], 0],
    ['it runs from proof to proof', [0, 2, 4, 6], 6],
    ['a slow proof counts', [0, 2, 9, 11], 11],
    ['a freeze does not', [0, 2, 62, 64], 4],
    ['nor does an outage, from the last proof on', [0, 2, 4, 'x', 10, 12], 6],
    ['however short', [0, 2, 'x', 3], 2],
    ['many freezes add up to nothing', [0, 8, 16, 24, 32], 0],
  ] as const) {
    test(what, () => assert.equal(attended(...proofs), expected));
  }
});
