import { after, before, describe } from 'node:test';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { away } from '../deliver/away.ts';
import { delivered } from '../deliver/delivered.ts';
import { keptByMembers } from '../deliver/kept-by-members.ts';
import { PlacingFleet, unlessPlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { PolicyFields } from '../../cluster/placing/policy-fields.ts';
import type { Stage } from '../../cluster/placing/scene.ts';
import { selectingNothing } from './selecting-nothing.ts';

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
