import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { clusterStreams } from './cluster-streams.ts';

clusterStreams('exec, attach, logs, port-forward and cp through a hub on a real kube-apiserver', (run) =>
  KubernetesHub.start(run),
);
