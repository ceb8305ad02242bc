import { describe } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { hostileMember } from './hostile-member.ts';

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36');

describe('a hostile member of a hub on a kube-apiserver', { skip }, () =>
  hostileMember((run) => KubernetesHub.start(run)),
);
