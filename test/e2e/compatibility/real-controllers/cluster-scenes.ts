import assert from 'node:assert/strict';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  HORIZONTAL_POD_AUTOSCALERS,
  isConditionTrue,
  type KubeObject,
  LEASES,
  NAMESPACES,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '@asterism/machinery';
import type { Kubectl } from '../../../cluster/kubectl.ts';
import { until } from '../../../cluster/until.ts';
import { untilAll } from '../../../cluster/until-all.ts';
import { areReady, NODES, type Scene, workload } from './scene.ts';

export const CLUSTER_SCENES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'a Service, its EndpointSlices; a budget; an autoscaler': service,
  'garbage collection: background, foreground, orphan': garbage,
  'a namespace: its account, token and authority, and its end': namespaceWithAll,
  'leader election': leases,
};

async function service({ client, namespace, kubectls }: Scene): Promise<void> {
  await client.resource(DEPLOYMENTS).create({
    metadata: { namespace, name: 'shop' },
    spec: { replicas: 2, ...workload('shop') },
  });
  await client.resource(SERVICES).create({
    metadata: { namespace, name: 'shop' },
    spec: { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await kubectls[0]!.run(['-n', namespace, 'create', 'pdb', 'shop', '--selector=app=shop', '--min-available=1']);
  await kubectls[0]!.run(['-n', namespace, 'autoscale', 'deploy/shop', '--min=1', '--max=4', '--cpu-percent=80']);
  const pods = await untilAll(client, PODS, { namespace }, areReady(2));
  const names = new Set(pods.map(({ metadata }) => metadata?.name));
  const ref = { namespace, name: 'shop' };
  const endpoints = await until(client, ENDPOINTS, ref, ({ subsets }) => subsets?.[0]?.addresses?.length === 2);
  assert.equal(endpoints.subsets?.[0]?.ports?.[0]?.port, 8080);
  const [slice] = await untilAll(
    client,
    ENDPOINT_SLICES,
    { namespace, labelSelector: 'kubernetes.io/service-name=shop' },
    ([one]) => one?.endpoints?.filter(({ conditions }) => conditions?.ready).length === 2,
  );
  assert.deepEqual(new Set(slice?.endpoints?.map(({ targetRef }) => targetRef?.name)), names);
  assert.deepEqual(
    slice?.endpoints?.map(({ nodeName }) => NODES.includes(nodeName ?? '')),
    [true, true],
  );
  const budget = await until(client, POD_DISRUPTION_BUDGETS, ref, ({ status }) => status?.disruptionsAllowed === 1);
  assert.deepEqual([budget.status?.currentHealthy, budget.status?.expectedPods], [2, 2]);
  const scaler = await until(
    client,
    HORIZONTAL_POD_AUTOSCALERS,
    ref,
    ({ status }) => status?.conditions?.some(({ type }) => type === 'ScalingActive') === true,
  );
  assert.ok(
    isConditionTrue(scaler.status?.conditions, 'AbleToScale') &&
      !isConditionTrue(scaler.status?.conditions, 'ScalingActive'),
  );
  // kubectl 1.20 looks for CustomResourceDefinitions of v1beta1 before a dry run: no server of today has them.
  const [old, current] = kubectls as [Kubectl, Kubectl];
  const rehearsed = await current.run(['drain', ...NODES, '--dry-run=server', '--pod-selector=app=shop']);
  assert.match(rehearsed, /node-a drained[^]*node-b drained/);
  for (const [index, kubectl] of [old, current].entries()) {
    const node = NODES[index]!;
    assert.match(await kubectl.run(['drain', node, '--pod-selector=app=shop']), /evicted|drained/);
    const moved = await untilAll(client, PODS, { namespace }, areReady(2));
    assert.ok(moved.every(({ spec }) => spec?.nodeName !== node));
    await kubectl.run(['uncordon', node]);
  }
}

async function garbage({ client, namespace }: Scene): Promise<void> {
  const maps = client.resource(CONFIG_MAPS);
  const all = ['Background', 'Foreground', 'Orphan'] as const;
  await Promise.all(
    all.map(async (propagationPolicy) => {
      const label = propagationPolicy.toLowerCase();
      const owner = await maps.create({ metadata: { namespace, name: `${label}-owner` } });
      const { name = '', uid = '' } = owner.metadata ?? {};
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }];
      for (const dependent of ['one', 'two']) {
        await maps.create({
          metadata: { namespace, name: `${label}-${dependent}`, labels: { of: label }, ownerReferences },
        });
      }
      await maps.delete({ namespace, name }, { propagationPolicy });
      const wanted = (objects: readonly KubeObject[]): boolean =>
        propagationPolicy === 'Orphan'
          ? objects.length === 2 && objects.every(({ metadata }) => metadata?.ownerReferences === undefined)
          : objects.length === 0;
      await untilAll(client, CONFIG_MAPS, { namespace, labelSelector: `of=${label}` }, wanted);
    }),
  );
  const isOwner = ({ metadata }: KubeObject): boolean => metadata?.name?.endsWith('-owner') === true;
  await untilAll(client, CONFIG_MAPS, { namespace }, (left) => !left.some(isOwner));
}

async function namespaceWithAll({ client, namespace, kubectls }: Scene): Promise<void> {
  const account = await until(
    client,
    SERVICE_ACCOUNTS,
    { namespace, name: 'default' },
    ({ secrets = [] }) => secrets.length > 0,
  );
  const token = await client.resource(SECRETS).get({ namespace, name: account.secrets?.[0]?.name ?? '' });
  assert.equal(token.type, 'kubernetes.io/service-account-token');
  assert.deepEqual(Object.keys(token.data ?? {}).sort(), ['ca.crt', 'namespace', 'token']);
  await until(
    client,
    CONFIG_MAPS,
    { namespace, name: 'kube-root-ca.crt' },
    ({ data }) => data?.['ca.crt'] !== undefined,
  );
  await client.resource(DEPLOYMENTS).create({
    metadata: { namespace, name: 'web' },
    spec: { replicas: 2, ...workload('web') },
  });
  await client.resource(SERVICES).create({
    metadata: { namespace, name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await untilAll(client, PODS, { namespace }, areReady(2));
  await kubectls[1]!.run(['delete', 'namespace', namespace]);
  const left = await client.resource(NAMESPACES).list({ fieldSelector: `metadata.name=${namespace}` });
  assert.deepEqual(left.items, []);
  for (const type of [
    PODS,
    CONFIG_MAPS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    DEPLOYMENTS,
    REPLICA_SETS,
    ENDPOINT_SLICES,
  ]) {
    assert.deepEqual((await client.resource<KubeObject>(type).list({ namespace })).items, [], type.resource);
  }
}

async function leases({ client }: Scene): Promise<void> {
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    const ref = { namespace: 'kube-system', name };
    const held = await until(client, LEASES, ref, ({ spec }) => Boolean(spec?.holderIdentity));
    await until(client, LEASES, ref, ({ spec }) => spec?.renewTime !== held.spec?.renewTime);
  }
}
