import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EmbeddedHub } from '../cluster/embedded-hub.ts';
import { away } from './placing/away.ts';
import { delivered } from './placing/delivered.ts';
import { injectedSidecar } from './placing/injected-sidecar.ts';
import { keptByMembers } from './placing/kept-by-members.ts';
import { overridden } from './placing/overridden.ts';
import { PlacingFleet, unlessPlacingFleet } from './placing/placing-fleet.ts';
import { PolicyFields } from './placing/policy-fields.ts';
import type { Stage } from './placing/scene.ts';
import { selectingNothing } from './placing/selecting-nothing.ts';
import { whichClusters } from './placing/which-clusters.ts';
import { whichPolicy } from './placing/which-policy.ts';

describe('an embedded hub places over simulated members and a real one', { skip: unlessPlacingFleet() }, () => {
  let stage: Stage;
  const onStage = (): Stage => stage;

  before(async () => {
    const fleet = await PlacingFleet.start({ startHub: (run) => EmbeddedHub.start(run), oak: 'push' });
    stage = { fleet, fields: await PolicyFields.read() };
  });
  after(() => stage?.fleet[Symbol.asyncDispose]());

  const sidecar = injectedSidecar(onStage);
  sidecar.begin();
  keptByMembers(onStage);
  delivered(onStage);
  whichClusters(onStage);
  whichPolicy(onStage);
  selectingNothing(onStage, 'everything');
  overridden(onStage);

  away(onStage, 'killed');
  sidecar.end();

  test('every field of the policies, and every word that they may say, was applied by a test above', () => {
    assert.deepEqual(stage.fields.missing(), []);
  });
});
