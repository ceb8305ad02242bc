import { after, before, describe } from 'node:test';
import { KubernetesHub } from '../cluster/kubernetes-hub.ts';
import { away } from './placing/away.ts';
import { delivered } from './placing/delivered.ts';
import { keptByMembers } from './placing/kept-by-members.ts';
import { PlacingFleet, unlessPlacingFleet } from './placing/placing-fleet.ts';
import { PolicyFields } from './placing/policy-fields.ts';
import type { Stage } from './placing/scene.ts';
import { selectingNothing } from './placing/selecting-nothing.ts';

describe('a hub on a kube-apiserver places over simulated members and a real one', {
  skip: unlessPlacingFleet(),
}, () => {
  let stage: Stage;
  const onStage = (): Stage => stage;

  before(async () => {
    const startHub = (run: PlacingFleet['run']) => KubernetesHub.start(run);
    const fleet = await PlacingFleet.start({ startHub, oak: 'pull', simulated: ['alder', 'cedar'] });
    stage = { fleet, fields: await PolicyFields.read() };
  });
  after(() => stage?.fleet[Symbol.asyncDispose]());

  delivered(onStage);
  keptByMembers(onStage);
  selectingNothing(onStage, 'bySchema');
  away(onStage, 'frozen');
});
