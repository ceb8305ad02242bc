import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { describeJoining } from './joining-story.ts';

/** kube-controller-manager 1.20 dates certificates back by five minutes and counts from there: this leaves 50 s. */
const SIGNING = '--cluster-signing-duration=5m50s';

describeJoining('a hub on a kube-apiserver', CONTROL_PLANE_BINARIES, (run) =>
  KubernetesHub.start(run, { controllerManager: [SIGNING] }),
);
