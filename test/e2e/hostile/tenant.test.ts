import { after, before, describe } from 'node:test';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { hostileTenant } from './hostile-tenant.ts';
import { TenantStage } from './tenant-stage.ts';

describe('a hostile tenant of an embedded hub', { skip: unlessThere('kubectl-1.36') }, () => {
  let stage: TenantStage;
  before(async () => {
    stage = await TenantStage.start((run) => EmbeddedHub.start(run));
  });
  after(() => stage?.[Symbol.asyncDispose]());

  hostileTenant(() => stage, 'embedded');
});

describe('a hostile tenant of a hub on a kube-apiserver', {
  skip: unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36'),
}, () => {
  let stage: TenantStage;
  before(async () => {
    stage = await TenantStage.start((run) => KubernetesHub.start(run));
  });
  after(() => stage?.[Symbol.asyncDispose]());

  hostileTenant(() => stage, 'on a kube-apiserver');
});
