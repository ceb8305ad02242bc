import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../cluster/control-plane.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { RIGHTS_MUTATIONS, survivingRightsMutations } from '../differential/rights/rights-mutations.ts';
import { runRightsSuite } from '../differential/rights/rights-suite.ts';
import { seededRandom } from './seeded-random.ts';

const ROUNDS = 40;
const DECISIONS_A_ROUND = 520;
const skip = unlessThere(...CONTROL_PLANE_BINARIES);

test(`${ROUNDS * DECISIONS_A_ROUND} decisions are as a real kube-apiserver 1.20 decides`, { skip }, async (t) => {
  const seed = Math.floor(seededRandom(t)() * 1_000_000);
  await runRightsSuite(t, { seed, rounds: ROUNDS, each: DECISIONS_A_ROUND });
});

test(`each of ${RIGHTS_MUTATIONS.length} holes in our server is found by random decisions`, { skip }, async (t) => {
  const seed = Math.floor(seededRandom(t)() * 1_000_000);
  assert.deepEqual(await survivingRightsMutations(t, { seed, rounds: 8, each: 500 }), []);
});
