import { test } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../cluster/control-plane.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { runDifferentialSuite } from '../differential/differential-suite.ts';
import { seededRandom } from './seeded-random.ts';

const ROUNDS = 10;

// A fresh pair of servers for each round: 1.20 puts its OpenAPI together again with every definition that it has ever more of.
test(`${ROUNDS} rounds of generated requests are answered as a real kube-apiserver 1.20 answers them`, {
  skip: unlessThere(...CONTROL_PLANE_BINARIES),
}, async (t) => {
  const random = seededRandom(t);
  for (let round = 0; round < ROUNDS; round += 1) {
    const seeds = [random(), random()].map((number) => Math.floor(number * 1_000_000));
    await runDifferentialSuite(t, { seeds, stale: false });
  }
});
