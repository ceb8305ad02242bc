import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import type { PlacingFleetOptions } from '../../cluster/placing/placing-fleet.ts';
import { away } from './away.ts';
import { delivered } from './delivered.ts';
import { keptByMembers } from './kept-by-members.ts';

const OPTIONS: PlacingFleetOptions = {
  startHub: (run) => KubernetesHub.start(run),
  oak: 'pull',
  simulated: ['alder', 'cedar'],
};

describePlacing('a hub on a kube-apiserver delivers to simulated members and a real one', OPTIONS, (fleet) => {
  delivered(fleet);
  keptByMembers(fleet);
  away(fleet, 'frozen');
});
