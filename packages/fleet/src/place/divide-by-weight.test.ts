import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { divideByWeight } from './divide-by-weight.ts';
import { byName, fnv1a, tieBreakOf } from '../template/tie-break.ts';

const clusters = (weights: Record<string, number>) =>
  Object.entries(weights).map(([name, weight]) => ({ name, weight }));
const byEntryName = ([a]: [string, number], [b]: [string, number]) => byName(a, b);

describe('divideByWeight', () => {
  const rows: { name: string; replicas: number; weights: Record<string, number>; expected: Record<string, number> }[] =
    [
      { name: 'in proportion', replicas: 9, weights: { a: 2, b: 1 }, expected: { a: 6, b: 3 } },
      { name: 'the rest by highest average', replicas: 10, weights: { a: 2, b: 1 }, expected: { a: 7, b: 3 } },
      { name: 'a tie to the first name', replicas: 5, weights: { b: 1, a: 1 }, expected: { a: 3, b: 2 } },
      { name: 'weight 0 has no entry', replicas: 4, weights: { a: 0, b: 1 }, expected: { b: 4 } },
      { name: 'a share of 0 has no entry', replicas: 1, weights: { a: 9, b: 1 }, expected: { a: 1 } },
      { name: 'no weights, no replicas', replicas: 4, weights: { a: 0 }, expected: {} },
      { name: 'no clusters', replicas: 4, weights: {}, expected: {} },
    ];
  for (const { name, replicas, weights, expected } of rows) {
    test(name, () =>
      assert.deepEqual(Object.fromEntries(divideByWeight(replicas, clusters(weights), byName)), expected),
    );
  }

  test('an odd hash of the uid turns the order of ties round', () => {
    const uids = Array.from({ length: 40 }, (_, index) => `uid-${index}`);
    for (const uid of uids) {
      const winner = fnv1a(uid) % 2 === 1 ? 'b' : 'a';
      assert.equal(divideByWeight(1, clusters({ a: 1, b: 1 }), tieBreakOf(uid)).get(winner), 1, uid);
    }
    assert.equal(divideByWeight(1, clusters({ a: 1, b: 1 }), tieBreakOf('')).get('a'), 1);
  });

  test('fnv1a gives the published values', () => {
    assert.equal(fnv1a(''), 0x811c9dc5);
    assert.equal(fnv1a('a'), 0xe40c292c);
    assert.equal(fnv1a('foobar'), 0xbf9cf968);
  });

  const weights = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.nat({ max: 50 }), { minKeys: 1, maxKeys: 12 });
  test('sums to the total, and depends on nothing but its input', () => {
    fc.assert(
      fc.property(fc.nat({ max: 300 }), weights, fc.string(), (replicas, byCluster, uid) => {
        const division = divideByWeight(replicas, clusters(byCluster), tieBreakOf(uid));
        const total = [...division.values()].reduce((sum, share) => sum + share, 0);
        assert.equal(total, Object.values(byCluster).some((weight) => weight > 0) ? replicas : 0);
        const reversed = divideByWeight(replicas, clusters(byCluster).reverse(), tieBreakOf(uid));
        assert.deepEqual(new Map([...reversed].toSorted(byEntryName)), new Map([...division].toSorted(byEntryName)));
      }),
    );
  });

  /** The rule itself: one replica after the other to the highest average. */
  function oneByOne(replicas: number, parties: readonly { name: string; weight: number }[]): Record<string, number> {
    const seats: Record<string, number> = {};
    const average = ({ name, weight }: { name: string; weight: number }) => weight / (2 * (seats[name] ?? 0) + 1);
    for (let given = 0; given < replicas; given += 1) {
      const [next] = parties
        .filter(({ weight }) => weight > 0)
        .toSorted(
          (a, b) => average(b) - average(a) || (seats[a.name] ?? 0) - (seats[b.name] ?? 0) || byName(a.name, b.name),
        );
      if (next) seats[next.name] = (seats[next.name] ?? 0) + 1;
    }
    return seats;
  }

  test('gives what the rule gives, one replica after the other', () => {
    fc.assert(
      fc.property(fc.nat({ max: 300 }), weights, (replicas, byCluster) => {
        const parties = clusters(byCluster);
        assert.deepEqual(Object.fromEntries(divideByWeight(replicas, parties, byName)), oneByOne(replicas, parties));
      }),
      { seed: 20_263, numRuns: 300 },
    );
    for (const parties of [clusters({ a: 2 ** 31, b: 1, c: 2 ** 31 }), clusters({ a: 1e-9, b: 3e-9 })]) {
      assert.deepEqual(Object.fromEntries(divideByWeight(2_000, parties, byName)), oneByOne(2_000, parties));
    }
  });

  test('one replica more never takes one away', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), weights, (replicas, byCluster) => {
        const before = divideByWeight(replicas, clusters(byCluster), byName);
        const after = divideByWeight(replicas + 1, clusters(byCluster), byName);
        for (const [name, share] of before) assert.ok((after.get(name) ?? 0) >= share);
      }),
    );
  });
});
