// Runs beside other tests: it waits while a member is cut off for 30 s and frozen for 30 s.
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { membersBreaking } from './members-breaking.ts';

membersBreaking('real members and a hub on a kube-apiserver break at random moments of a change', (run) =>
  KubernetesHub.start(run),
);
