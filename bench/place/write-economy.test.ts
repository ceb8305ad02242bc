import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { clusterNamespace, CLUSTERS, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '@asterism/fleet/api';
import { type Deployment, DEPLOYMENTS, isConditionTrue, LEASES, NAMESPACES } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { Fleet } from '../../packages/fleet/src/deliver/testing/fleet.ts';
import { TestFleet } from '../../packages/hub/src/testing/test-fleet.ts';
import { benchDeployment, NAMESPACE, twoPolicy } from './bench-deployment.ts';
import { conflicts, readRequestCounts, type RequestCount, storedWrites, subtractCounts } from './request-counts.ts';

const NAMES = ['ant', 'bee'] as const;
/** Longer than any test waits: a rollout that ends within the patience is told once, however slow this machine is. */
const PATIENCE = { coalesceMs: 100, progressMs: 3_600_000, patienceMs: 3_600_000 };

/** What a Deployment's controller writes on the way: at first nothing is ready, at last all. */
async function rollOut(member: Client, name: string): Promise<void> {
  const deployments = member.resource(DEPLOYMENTS);
  const ref = { namespace: NAMESPACE, name };
  for (const ready of [0, 0, 1]) {
    const { metadata } = await deployments.get(ref);
    const counters = { updatedReplicas: 1, readyReplicas: ready, availableReplicas: ready };
    const value = { observedGeneration: metadata?.generation, replicas: 1, ...counters };
    await deployments.patch(
      ref,
      { type: 'json', body: [{ op: 'add', path: '/status', value }] },
      { subresource: 'status' },
    );
  }
}

const isToldReady = (object: Deployment | undefined): boolean =>
  object?.status?.readyReplicas === NAMES.length && object.status.observedGeneration === object.metadata?.generation;

function byName(counts: readonly RequestCount[]): Record<string, number> {
  return Object.fromEntries(
    counts
      .map(({ verb, resource, count }) => [`${verb} ${resource}`, count] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe('writes to the hub, as its API server counts them, for what settles within the patience', () => {
  let fleet: Fleet;
  let told: RequestCount[];

  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: { syncMode: 'Pull' } }, { timing: PATIENCE });
    await fleet.hub.resource(NAMESPACES).create({ metadata: { name: NAMESPACE } });
    await fleet.hub.resource(PROPAGATION_POLICIES).create(twoPolicy(NAMES));
    await fleet.run();
    await place('first');
    told = await readRequestCounts(fleet.hub);
  });
  after(() => fleet[Symbol.asyncDispose]());

  /** Resolves when both members have rolled it out and the hub tells so, in the template and in the binding. */
  async function settle(name: string, has: (object: Deployment | undefined) => boolean): Promise<void> {
    const ref = { namespace: NAMESPACE, name };
    for (const member of NAMES) {
      await untilObject(fleet.member(member), DEPLOYMENTS, ref, has);
      await rollOut(fleet.member(member), name);
    }
    await untilObject(fleet.hub, DEPLOYMENTS, ref, isToldReady);
    await untilObject(fleet.hub, RESOURCE_BINDINGS, { ...ref, name: `${name}-deployment` }, (binding) =>
      isConditionTrue(binding?.status?.conditions, 'FullyApplied'),
    );
  }

  async function place(name: string): Promise<void> {
    await fleet.hub.resource(DEPLOYMENTS).create(benchDeployment(name, 'two', NAMES.length));
    await settle(name, (object) => object !== undefined);
  }

  /** What was written since the last call. What comes late of one thing is seen with the next. */
  async function written(): Promise<Record<string, number>> {
    const now = await readRequestCounts(fleet.hub);
    const since = subtractCounts(now, told);
    told = now;
    assert.deepEqual(conflicts(since), []);
    return byName(storedWrites(since));
  }

  test('a Deployment on two clusters: eight', async () => {
    await place('second');
    await place('third');
    assert.deepEqual(await written(), {
      'PATCH deployments.apps/status': 2,
      'PATCH resourcebindings.asterism.dev/status': 2,
      'PATCH works.asterism.dev/status': 4,
      'POST deployments.apps': 2,
      'POST resourcebindings.asterism.dev': 2,
      'POST works.asterism.dev': 4,
    });
  });

  test('a change of it: the template, each Work, and one status of each', async () => {
    const image = 'registry.example/web:1.28';
    const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
    await fleet.hub.resource(DEPLOYMENTS).patch({ namespace: NAMESPACE, name: 'second' }, { type: 'json', body });
    await settle('second', (object) => object?.spec?.template.spec?.containers[0]?.image === image);
    const { 'PATCH deployments.apps': template, ...rest } = await written();
    assert.equal(template, 1);
    assert.deepEqual(rest, {
      'PATCH deployments.apps/status': 1,
      'PATCH resourcebindings.asterism.dev/status': 1,
      'PATCH works.asterism.dev': 2,
      'PATCH works.asterism.dev/status': 2,
    });
  });
});

test('a hub and an agent to whom nothing happens write nothing but heartbeats', async () => {
  await using fleet = await TestFleet.start();
  const { client } = fleet.hub;
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
  const agent = fleet.join(member, { clusterName: 'ant', token });
  await agent.ready;
  await client.resource(NAMESPACES).create({ metadata: { name: NAMESPACE } });
  await client.resource(PROPAGATION_POLICIES).create(twoPolicy(['ant']));
  await client.resource(DEPLOYMENTS).create(benchDeployment('web', 'two'));
  const ref = { namespace: NAMESPACE, name: 'web' };
  await untilObject(member.client, DEPLOYMENTS, ref, (object) => object !== undefined);
  await rollOut(member.client, 'web');
  await untilObject(client, DEPLOYMENTS, ref, (object) => object?.status?.readyReplicas === 1);
  await untilObject(client, CLUSTERS, { name: 'ant' }, (cluster) =>
    isConditionTrue(cluster?.status?.conditions, 'Ready'),
  );
  // On a machine that is short of time a heartbeat may come too late, which is news, and soon another minute is quiet.
  let told = { writes: {}, refused: [] as RequestCount[] };
  for (let minute = 0; minute < PATIENT_MINUTES; minute++) {
    const before = await readRequestCounts(client);
    await beats(client, 'ant', BEATS_OF_A_MINUTE * 4);
    const since = subtractCounts(await readRequestCounts(client), before);
    const ofClusters = since.filter(
      ({ verb, resource }) => verb === 'PATCH' && resource === 'clusters.asterism.dev/status',
    );
    told = { writes: byName([...storedWrites(since), ...ofClusters]), refused: conflicts(since) };
    if (Object.keys(told.writes).length === 0) break;
  }
  assert.deepEqual(told, { writes: {}, refused: [] });
});

const PATIENT_MINUTES = 6;
/** An agent's heart beats every 10 s; that of these tests every 60 ms. */
const BEATS_OF_A_MINUTE = 6;

/** Resolves when the cluster's lease has been renewed so often. */
async function beats(hub: Client, clusterName: string, count: number): Promise<void> {
  const stop = new AbortController();
  const seen = new Set<string | undefined>();
  const namespace = clusterNamespace(clusterName);
  for await (const event of watchResource(hub.resource(LEASES), { namespace, signal: stop.signal })) {
    if (event.type === 'Apply') seen.add(event.object.metadata?.resourceVersion);
    if (seen.size >= count) break;
  }
  stop.abort();
}
