import { test } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { runRightsSuite } from '../../differential/rights/rights-suite.ts';
import { seededRandom } from '../../soak/seeded-random.ts';

/** The long form is `npm run test:soak -- rights`. */
test('1,500 random decisions are as a real kube-apiserver 1.20 decides', {
  skip: unlessThere(...CONTROL_PLANE_BINARIES),
}, async (t) => {
  const seed = Math.floor(seededRandom(t)() * 1_000_000);
  await runRightsSuite(t, { seed, rounds: 3, each: 500 });
});
