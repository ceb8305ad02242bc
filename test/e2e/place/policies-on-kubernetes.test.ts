import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import type { PlacingFleetOptions } from '../../cluster/placing/placing-fleet.ts';
import { selectingNothing } from './selecting-nothing.ts';

const OPTIONS: PlacingFleetOptions = { startHub: (run) => KubernetesHub.start(run), oak: 'pull', simulated: [] };

describePlacing('policies of a hub on a kube-apiserver', OPTIONS, (fleet) => selectingNothing(fleet, 'bySchema'));
