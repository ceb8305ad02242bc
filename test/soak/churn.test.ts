import { test } from 'node:test';
import { CHURN_BINARIES, runChurnSuite } from '../churn/churn-suite.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { seededRandom } from './seeded-random.ts';

const MINUTES = 10;

test(`${MINUTES} minutes of churn before kube-controller-manager and kube-scheduler 1.20`, {
  skip: unlessThere(...CHURN_BINARIES),
}, async (t) => {
  const seed = Math.floor(seededRandom(t)() * 1_000_000);
  await runChurnSuite(t, { seed, changes: 600, durationMs: MINUTES * 60_000, graceSeconds: 40 });
});
