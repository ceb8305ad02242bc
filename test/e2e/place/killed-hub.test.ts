import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../soak/seeded-random.ts';
import { rollOutUnderKills } from '../../soak/placing/killed-rollout.ts';

test('a small rollout over 5 clusters, the hub killed (-9) 3 times: it ends as wanted, nothing doubled, nothing lost', async (t) => {
  const { kills } = await rollOutUnderKills(t, {
    random: seededRandom(t),
    workloads: 10,
    namespaces: 1,
    kills: [2, 1, 0],
    settledMs: 60_000,
  });
  assert.equal(kills, 3);
});
