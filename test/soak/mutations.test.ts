import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../cluster/control-plane.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { survivingMutations } from '../differential/mutation-suite.ts';
import { MUTATIONS } from '../differential/mutations.ts';

test(`each of ${MUTATIONS.length} faults of our server turns a case of the differential suite red`, {
  skip: unlessThere(...CONTROL_PLANE_BINARIES),
}, async (t) => {
  assert.deepEqual(await survivingMutations(t, MUTATIONS), []);
});
