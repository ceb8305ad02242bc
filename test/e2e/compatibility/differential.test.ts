import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { runDifferentialSuite } from '../../differential/differential-suite.ts';
import { survivingMutations } from '../../differential/mutation-suite.ts';
import { MUTATIONS } from '../../differential/mutations.ts';

const skip = unlessThere(...CONTROL_PLANE_BINARIES);
/** As many as there is time for; all of them are in `npm run test:soak -- mutations`. */
const MUTATIONS_AT_HAND = 8;

test(
  'generated requests are answered as a real kube-apiserver 1.20 answers them, but for what is known to be new',
  { skip },
  (t) => runDifferentialSuite(t, { seeds: [1, 2], stale: true }),
);

test('a server with a fault is told from one without', { skip }, async (t) => {
  assert.deepEqual(await survivingMutations(t, MUTATIONS.slice(0, MUTATIONS_AT_HAND)), []);
});
