import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { away } from '../deliver/away.ts';
import { delivered } from '../deliver/delivered.ts';
import { injectedSidecar } from '../deliver/injected-sidecar.ts';
import { keptByMembers } from '../deliver/kept-by-members.ts';
import { overridden } from './overridden.ts';
import { PlacingFleet, unlessPlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { PolicyFields } from '../../cluster/placing/policy-fields.ts';
import type { Stage } from '../../cluster/placing/scene.ts';
import { selectingNothing } from './selecting-nothing.ts';
import { whichClusters } from './which-clusters.ts';
import { whichPolicy } from './which-policy.ts';

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
