import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { membersDemo } from './members-demo.ts';

membersDemo('real members, driven by kubectl 1.36 through a hub on a kube-apiserver', (run) =>
  KubernetesHub.start(run),
);
