import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Deployment, DEPLOYMENTS, findCondition } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, clusterNamespace, RESOURCE_BINDINGS, WORKS } from '../../api/index.ts';
import { deployment } from '../../place/testing/build.ts';
import { Fleet } from '../testing/fleet.ts';

const WEB = { namespace: 'demo', name: 'web' };
const REPLICAS = 3;
/** Longer than any test waits: what comes was not waited for. */
const NEVER_MS = 3_600_000;

/** A fleet of one member with the Deployment on its way there. */
async function placed(timing: { coalesceMs: number; progressMs: number; patienceMs: number }): Promise<Fleet> {
  const fleet = await Fleet.start({ ant: { region: 'eu' } }, { timing });
  await fleet.run();
  const { uid: _, ...metadata } = deployment(REPLICAS).metadata ?? {};
  await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(REPLICAS), metadata } as Deployment);
  await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: 'all' },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: { clusterAffinity: {} } },
  });
  await untilObject(fleet.member('ant'), DEPLOYMENTS, WEB, (object) => object !== undefined);
  return fleet;
}

/** What a Deployment's controller would write. */
async function report(fleet: Fleet, ready: number, progressing = 'True'): Promise<void> {
  const deployments = fleet.member('ant').resource(DEPLOYMENTS);
  const { metadata } = await deployments.get(WEB);
  const counters = { updatedReplicas: REPLICAS, readyReplicas: ready, availableReplicas: ready };
  const conditions = [{ type: 'Progressing', status: progressing, reason: 'Some' }];
  const value = { observedGeneration: metadata?.generation, replicas: REPLICAS, ...counters, conditions };
  const body = [{ op: 'add', path: '/status', value }];
  await deployments.patch(WEB, { type: 'json', body }, { subresource: 'status' });
}

/** Resolves when the member's executor has looked at the Deployment as it stands: it corrects what was changed with it. */
async function seen(fleet: Fleet): Promise<void> {
  const deployments = fleet.member('ant').resource(DEPLOYMENTS);
  await deployments.patch(WEB, { type: 'merge', body: { metadata: { labels: { 'asterism.dev/managed': null } } } });
  const label = (object: Deployment | undefined) => object?.metadata?.labels?.['asterism.dev/managed'];
  await untilObject(fleet.member('ant'), DEPLOYMENTS, WEB, (object) => label(object) !== undefined);
}

const told = (fleet: Fleet, test: (status: NonNullable<Deployment['status']>) => boolean) =>
  untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => object?.status !== undefined && test(object.status));

describe('a rollout, with no end to the patience', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await placed({ coalesceMs: 0, progressMs: NEVER_MS, patienceMs: NEVER_MS });
  });
  after(() => fleet[Symbol.asyncDispose]());

  test('is told once, at its end, and then at once', async () => {
    await report(fleet, 0);
    await seen(fleet);
    await report(fleet, REPLICAS - 1);
    await seen(fleet);
    const statuses = () => fleet.writes.filter((write) => /works\/.*\/status/.test(write));
    assert.deepEqual(statuses(), []);
    await report(fleet, REPLICAS);
    await told(fleet, ({ readyReplicas }) => readyReplicas === REPLICAS);
    assert.equal(statuses().length, 1);
  });

  test('what works no more is told at once', async () => {
    await report(fleet, REPLICAS - 1);
    await told(fleet, ({ readyReplicas }) => readyReplicas === REPLICAS - 1);
  });

  test('so is a rollout that gives up', async () => {
    await fleet.hub.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { minReadySeconds: 1 } } });
    await untilObject(fleet.member('ant'), DEPLOYMENTS, WEB, (object) => object?.spec?.minReadySeconds === 1);
    await report(fleet, 1, 'False');
    const given = await told(fleet, ({ readyReplicas }) => readyReplicas === 1);
    assert.equal(findCondition(given?.status?.conditions, 'Progressing')?.status, 'False');
  });
});

test('a rollout that stalls is told when the patience is over', async () => {
  await using fleet = await placed({ coalesceMs: 0, progressMs: 200, patienceMs: 300 });
  await report(fleet, 1);
  await told(fleet, ({ readyReplicas }) => readyReplicas === 1);
  const namespace = clusterNamespace('ant');
  const work = await fleet.hub.resource(WORKS).get({ namespace, name: 'demo.web-deployment' });
  assert.equal(work.status?.observedGeneration, work.metadata.generation);
  assert.equal(work.status?.manifestStatuses?.[0]?.health, 'Unhealthy');
  const binding = { namespace: 'demo', name: 'web-deployment' };
  await untilObject(
    fleet.hub,
    RESOURCE_BINDINGS,
    binding,
    (object) => findCondition(object?.status?.conditions, 'FullyApplied')?.status === 'True',
  );
});
