import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Deployment,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  type EndpointSlice,
  findCondition,
  POD_DISRUPTION_BUDGETS,
  PODS,
  REPLICA_SETS,
  SERVICES,
} from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

const labels = { app: 'web' };
const ref = { namespace: 'default', name: 'web' };

const deployment = (spec: Partial<NonNullable<Deployment['spec']>> = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: ref,
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ name: 'http', containerPort: 8080 }] }] },
    },
    ...spec,
  },
});

const isRolledOut = ({ status, metadata, spec }: Deployment): boolean =>
  status?.observedGeneration === metadata?.generation &&
  status?.updatedReplicas === spec?.replicas &&
  status?.availableReplicas === spec?.replicas &&
  status?.replicas === spec?.replicas;

const setImage = (image: string) => ({
  type: 'strategic' as const,
  body: { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } },
});
const REVISION = 'deployment.kubernetes.io/revision';

describe('a Deployment', () => {
  test('numbers its templates, and gives one that comes back a new number', async () => {
    await using member = await TestMember.start();
    const deployments = member.client.resource(DEPLOYMENTS);
    const rolledOut = (revision: string) =>
      member.one(DEPLOYMENTS, ref, (each) => isRolledOut(each) && each.metadata?.annotations?.[REVISION] === revision);
    await deployments.create(deployment());
    assert.equal((await rolledOut('1')).metadata?.generation, 1);
    await deployments.patch(ref, setImage('web:2'));
    await rolledOut('2');
    await deployments.patch(ref, setImage('web:1'));
    await rolledOut('3');
    const sets = await member.until(REPLICA_SETS, (all) => all.length === 2);
    const numbers = sets.map(({ metadata, spec }) => [
      metadata?.annotations?.[REVISION],
      metadata?.annotations?.['deployment.kubernetes.io/revision-history'],
      spec?.replicas,
    ]);
    assert.deepEqual(
      numbers.toSorted(([a], [b]) => Number(a) - Number(b)),
      [
        ['2', undefined, 0],
        ['3', '1', 2],
      ],
    );
  });

  test('takes over what another of its name has left, and lets go of a pod that is not its own any more', async () => {
    await using member = await TestMember.start();
    const deployments = member.client.resource(DEPLOYMENTS);
    await deployments.create(deployment());
    await member.one(DEPLOYMENTS, ref, isRolledOut);
    const [first] = await member.until(PODS, (pods) => pods.length === 2);
    await deployments.delete(ref, { propagationPolicy: 'Orphan' });
    await member.until(DEPLOYMENTS, (all) => all.length === 0);
    await deployments.create(deployment());
    await member.one(DEPLOYMENTS, ref, isRolledOut);
    const pods = await member.until(PODS, (all) => all.length === 2);
    assert.equal(pods[0]?.metadata?.uid, first?.metadata?.uid);
    const pod = { namespace: 'default', name: first?.metadata?.name ?? '' };
    await member.client.resource(PODS).patch(pod, { type: 'merge', body: { metadata: { labels: { app: 'odd' } } } });
    const after = await member.until(PODS, (all) => all.length === 3);
    const odd = after.find(({ metadata }) => metadata?.name === pod.name);
    assert.deepEqual(odd?.metadata?.ownerReferences ?? [], []);
  });

  test('is scaled while it is paused, and says when it is late', async () => {
    await using member = await TestMember.start({ podStartMs: 3_600_000 });
    const deployments = member.client.resource(DEPLOYMENTS);
    await deployments.create(deployment({ progressDeadlineSeconds: 1, minReadySeconds: 0 }));
    const late = await member.one(DEPLOYMENTS, ref, ({ status }) => {
      return findCondition(status?.conditions, 'Progressing')?.status === 'False';
    });
    assert.equal(findCondition(late.status?.conditions, 'Progressing')?.reason, 'ProgressDeadlineExceeded');
    await deployments.patch(ref, { type: 'merge', body: { spec: { paused: true, replicas: 3 } } });
    const paused = await member.one(DEPLOYMENTS, ref, ({ status }) => status?.replicas === 3);
    assert.equal(findCondition(paused.status?.conditions, 'Progressing')?.reason, 'DeploymentPaused');
  });

  test('has its Service lead to the named ports of its pods, and its budget let go what it can spare', async () => {
    await using member = await TestMember.start();
    await member.client.resource(DEPLOYMENTS).create(deployment());
    await member.client.resource(SERVICES).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: ref,
      spec: { clusterIP: 'None', selector: labels, ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
    });
    const isOwn = ({ metadata, endpoints }: EndpointSlice): boolean =>
      metadata?.labels?.['kubernetes.io/service-name'] === 'web' &&
      endpoints?.filter(({ conditions }) => conditions?.ready).length === 2;
    const slice = (await member.until(ENDPOINT_SLICES, (all) => all.some(isOwn))).find(isOwn);
    assert.deepEqual(slice?.ports, [{ name: 'web', port: 8080, protocol: 'TCP' }]);
    assert.equal(slice?.metadata?.labels?.['service.kubernetes.io/headless'], '');
    const endpoints = await member.one(ENDPOINTS, ref, ({ subsets }) => subsets?.[0]?.addresses?.length === 2);
    assert.deepEqual(endpoints.subsets?.[0]?.ports, [{ name: 'web', port: 8080, protocol: 'TCP' }]);

    const budgets = member.client.resource(POD_DISRUPTION_BUDGETS);
    await budgets.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: ref,
      spec: { selector: { matchLabels: labels }, maxUnavailable: '50%' },
    });
    const { status } = await member.one(POD_DISRUPTION_BUDGETS, ref, (each) => each.status?.disruptionsAllowed === 1);
    assert.deepEqual([status?.currentHealthy, status?.desiredHealthy, status?.expectedPods], [2, 1, 2]);
    await budgets.patch(ref, { type: 'merge', body: { spec: { maxUnavailable: 0 } } });
    const shut = await member.one(POD_DISRUPTION_BUDGETS, ref, (each) => each.status?.disruptionsAllowed === 0);
    assert.equal(shut.status?.conditions?.[0]?.reason, 'InsufficientPods');

    await member.client.resource(SERVICES).delete(ref);
    await member.until(ENDPOINTS, (all) => all.every(({ metadata }) => metadata?.name !== 'web'));
    assert.equal((await member.until(PODS, (pods) => pods.length === 2)).length, 2);
  });
});
