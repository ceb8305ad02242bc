import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SeenLease } from '../leader/lease-record.ts';
import { decideOutside, handsOver } from './decide-share.ts';

const NOW = 100_000;
const YIELD = 10_000;

/** As seen so long ago. */
function seen(holderIdentity: string | undefined, agoMs: number): SeenLease {
  const spec = holderIdentity === undefined ? {} : { holderIdentity };
  return { spec, at: NOW - agoMs, validMs: holderIdentity === undefined ? 0 : 20_000 };
}

describe('a cluster that this process does not hold', () => {
  const rows = [
    { name: 'never held, first in line', ranking: ['me', 'b'], expected: { act: 'Take' } },
    { name: 'never held, second in line', ranking: ['b', 'me'], expected: { act: 'Wait', forMs: YIELD } },
    {
      name: 'never held, second in line, and heard of long ago',
      ranking: ['b', 'me'],
      offeredAgo: YIELD,
      expected: { act: 'Take' },
    },
    { name: 'not a peer', ranking: [], expected: { act: 'Wait', forMs: undefined } },
    { name: 'held by a peer, first in line', ranking: ['me', 'b'], fence: seen('b', 1_000), expected: { act: 'Ask' } },
    {
      name: 'asked for already',
      ranking: ['me', 'b'],
      fence: seen('b', 1_000),
      wantedBy: 'me',
      expected: { act: 'Wait', forMs: 19_000 },
    },
    {
      name: 'another asked, who is not first any more',
      ranking: ['me', 'b', 'c'],
      fence: seen('b', 0),
      wantedBy: 'c',
      expected: { act: 'Ask' },
    },
    {
      name: 'held by a peer, second in line',
      ranking: ['b', 'me', 'c'],
      fence: seen('c', 1_000),
      expected: { act: 'Wait', forMs: 29_000 },
    },
    {
      name: 'held by one that died',
      ranking: ['me'],
      fence: seen('b', 15_000),
      expected: { act: 'Wait', forMs: 5_000 },
    },
    {
      name: 'held by one that died long enough ago',
      ranking: ['me'],
      fence: seen('b', 20_000),
      offeredAgo: 60_000,
      expected: { act: 'Take' },
    },
    {
      name: 'held by this very process before',
      ranking: ['me'],
      fence: seen('me', 15_000),
      expected: { act: 'Wait', forMs: 5_000 },
    },
    { name: 'released, first in line', ranking: ['me', 'b'], fence: seen(undefined, 0), expected: { act: 'Take' } },
    {
      name: 'released, third in line',
      ranking: ['b', 'c', 'me'],
      fence: seen(undefined, 0),
      offeredAgo: 60_000,
      expected: { act: 'Wait', forMs: 20_000 },
    },
  ] satisfies (Partial<Parameters<typeof decideOutside>[0]> & {
    name: string;
    offeredAgo?: number;
    expected: object;
  })[];

  for (const { name, ranking, expected, ...row } of rows) {
    test(name, () => {
      const { fence, wantedBy, offeredAgo = 0 } = row as { fence?: SeenLease; wantedBy?: string; offeredAgo?: number };
      const view = { identity: 'me', ranking, fence, wantedBy, now: NOW, offeredAt: NOW - offeredAgo, yieldMs: YIELD };
      assert.deepEqual(decideOutside(view), expected);
    });
  }
});

describe('a cluster that this process holds', () => {
  const rows = [
    { name: 'nobody asks', wantedBy: undefined, ranking: ['b', 'me'], holder: 'me', expected: false },
    { name: 'the first in line asks', wantedBy: 'b', ranking: ['b', 'me'], holder: 'me', expected: true },
    { name: 'one further behind asks', wantedBy: 'c', ranking: ['b', 'c', 'me'], holder: 'me', expected: false },
    { name: 'one that died has asked', wantedBy: 'b', ranking: ['me'], holder: 'me', expected: false },
    {
      name: 'asked for by itself, before it had it',
      wantedBy: 'me',
      ranking: ['me', 'b'],
      holder: 'me',
      expected: false,
    },
    { name: 'the question was put to another', wantedBy: 'b', ranking: ['b', 'me'], holder: 'c', expected: false },
  ];
  for (const { name, wantedBy, ranking, holder, expected } of rows) {
    test(`${name}: ${expected ? 'goes' : 'stays'}`, () => {
      assert.equal(handsOver({ identity: 'me', ranking, fence: seen(holder, 0), wantedBy }), expected);
    });
  }
});
