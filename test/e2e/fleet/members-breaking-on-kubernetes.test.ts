import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { membersBreaking } from './members-breaking.ts';

membersBreaking('real members and a hub on a kube-apiserver break at random moments of a change', (run) =>
  KubernetesHub.start(run),
);
