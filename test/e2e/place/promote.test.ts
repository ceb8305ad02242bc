import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RESOURCE_BINDINGS, type ResourceBinding } from '@asterism/fleet/api';
import { DEPLOYMENTS, isConditionTrue, type Pod, PODS, REPLICA_SETS, SERVICES } from '@asterism/machinery';
import { runAster } from '../../cluster/aster.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { joinMember, type Member, openHub, type OpenHub } from '../../cluster/fleet.ts';
import { markPodsReady } from '../../cluster/mark-pods-ready.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';

const ref = { namespace: 'shop', name: 'web' };
const isApplied = ({ status }: ResourceBinding): boolean => isConditionTrue(status?.conditions, 'FullyApplied');

const MANIFESTS = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {greeting: hello}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: registry.example/web:1.27
          envFrom: [{configMapRef: {name: web}}]
          resources: {requests: {cpu: 1000m}}
`;

describe('what runs in a real cluster is promoted', {
  skip: unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36'),
}, () => {
  const parts = new AsyncDisposableStack();
  let hub: OpenHub;
  let alder: Member;

  before(async () => {
    const run = parts.use(await RunFolder.open());
    const [started, controlPlane] = await Promise.all([
      EmbeddedHub.start(run).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'alder' }).then((each) => parts.use(each)),
    ]);
    parts.use(markPodsReady({ client: controlPlane.client, node: 'alder-0' }));
    hub = await openHub(run, started, parts);
    alder = await joinMember({ run, hub, parts, mode: 'push', name: 'alder', controlPlane });
  });
  after(() => parts.disposeAsync());

  const inMember = () => alder.controlPlane.client;
  const podsOf = async (): Promise<Set<string>> => {
    const { items } = await inMember().resource(PODS).list({ namespace: 'shop' });
    const running = items.filter((pod: Pod) => isConditionTrue(pod.status?.conditions, 'Ready'));
    return new Set(running.map(({ metadata }) => metadata?.uid ?? ''));
  };
  const setsOf = async (): Promise<Set<string>> => {
    const { items } = await inMember().resource(REPLICA_SETS).list({ namespace: 'shop' });
    return new Set(items.map(({ metadata }) => metadata?.name ?? ''));
  };

  test('by one command, with its ports and its pods, and the hub has the say from then on', async () => {
    await alder.kubectl.run(['apply', '-f', '-'], { stdin: MANIFESTS });
    await alder.kubectl.run(['-n', 'shop', 'rollout', 'restart', 'deploy/web']);
    await alder.kubectl.run(['-n', 'shop', 'rollout', 'status', 'deploy/web', '--timeout=60s']);
    await until(inMember(), DEPLOYMENTS, ref, ({ status }) => status?.replicas === 2 && status.readyReplicas === 2);
    const before = {
      pods: await podsOf(),
      sets: await setsOf(),
      deployment: await inMember().resource(DEPLOYMENTS).get(ref),
      service: await inMember().resource(SERVICES).get(ref),
    };
    const flags = ['-n', 'shop', '-C', 'alder', '--kubeconfig', hub.hub.kubeconfig];
    for (const what of ['deploy/web', 'svc/web']) {
      const told = await runAster(['promote', what, ...flags, ...(what === 'deploy/web' ? ['--dependencies'] : [])]);
      assert.match(told, /\/web created\n/);
    }
    for (const name of ['web-deployment', 'web-configmap', 'web-service']) {
      await until(hub.client, RESOURCE_BINDINGS, { namespace: 'shop', name }, isApplied);
    }
    const taken = await inMember().resource(DEPLOYMENTS).get(ref);
    assert.equal(taken.metadata?.labels?.['asterism.dev/managed'], 'shop.web-deployment');
    assert.deepEqual(taken.spec, before.deployment.spec);
    assert.deepEqual((await inMember().resource(SERVICES).get(ref)).spec, before.service.spec);
    // What the controllers made of it: nothing.
    await until(
      inMember(),
      DEPLOYMENTS,
      ref,
      ({ metadata, status }) => status?.observedGeneration === metadata?.generation,
    );
    assert.deepEqual(await setsOf(), before.sets);
    assert.deepEqual(await podsOf(), before.pods);
    const managers = taken.metadata?.managedFields?.map(({ manager }) => manager) ?? [];
    assert.ok(managers.includes('asterism') && !managers.includes('kubectl-client-side-apply'), managers.join());

    // What kubectl had made goes when the template loses it.
    const body = [{ op: 'remove', path: '/spec/template/spec/containers/0/envFrom' }];
    await hub.client.resource(DEPLOYMENTS).patch(ref, { type: 'json', body });
    await until(inMember(), DEPLOYMENTS, ref, ({ spec }) => !spec?.template.spec?.containers[0]?.envFrom);
  });
});
