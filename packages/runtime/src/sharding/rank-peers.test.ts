import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankPeers } from './rank-peers.ts';

const PEERS = ['a', 'b', 'c', 'd'];
const CLUSTERS = Array.from({ length: 1_000 }, (_, n) => `cluster-${n}`);
const first = (cluster: string, peers: readonly string[]): string => rankPeers(cluster, peers)[0] ?? '';

test('every process finds the same order, in whatever order it knows the others', () => {
  for (const cluster of CLUSTERS) {
    assert.deepEqual(rankPeers(cluster, PEERS.toReversed()), rankPeers(cluster, PEERS));
    assert.deepEqual(rankPeers(cluster, PEERS).sort(), PEERS);
  }
});

test('each has about as many', () => {
  for (const peer of PEERS) {
    const count = CLUSTERS.filter((cluster) => first(cluster, PEERS) === peer).length;
    assert.ok(count > 200 && count < 300, `${peer} has ${count}`);
  }
});

test('when one goes, only what it had moves, and the next in line has it', () => {
  const left = PEERS.slice(1);
  for (const cluster of CLUSTERS) {
    const [before, next] = rankPeers(cluster, PEERS);
    assert.equal(first(cluster, left), before === 'a' ? next : before);
  }
});
