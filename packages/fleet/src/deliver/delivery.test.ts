import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, type Deployment, DEPLOYMENTS, NAMESPACES } from '@asterism/machinery';
import {
  clusterNamespace,
  OVERRIDE_POLICIES,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  WORKS,
} from '../api/index.ts';
import { deployment } from '../place/testing/build.ts';
import { Fleet } from './testing/fleet.ts';

const WEB = { namespace: 'demo', name: 'web' };
const BINDING = { namespace: 'demo', name: 'web-deployment' };

const policy: PropagationPolicy = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'web', namespace: 'demo' },
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    propagateDeps: true,
    placement: {
      clusterAffinity: { clusterNames: ['ant', 'bee'] },
      replicaScheduling: {
        replicaSchedulingType: 'Divided',
        replicaDivisionPreference: 'Weighted',
        weightPreference: {
          staticWeightList: [
            { targetCluster: { clusterNames: ['ant'] }, weight: 2 },
            { targetCluster: { clusterNames: ['bee'] }, weight: 1 },
          ],
        },
      },
    },
  },
};

const image = (object: Deployment | undefined) => object?.spec?.template.spec?.containers[0]?.image;

describe('from a template to members and back', () => {
  let fleet: Fleet;
  const member = (name: string): Client => fleet.member(name);

  before(async () => {
    fleet = await Fleet.start({ ant: { region: 'eu' }, bee: { region: 'us', syncMode: 'Pull' } });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const standsWith = (name: string, replicas: number) =>
    untilObject(member(name), DEPLOYMENTS, WEB, (object) => object?.spec?.replicas === replicas);

  /** What a Deployment's controller would write. */
  async function rollOut(name: string): Promise<void> {
    const { spec, metadata } = await member(name).resource(DEPLOYMENTS).get(WEB);
    const replicas = spec?.replicas ?? 0;
    const conditions = [
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
    ];
    const counters = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const value = { observedGeneration: metadata?.generation, ...counters, conditions };
    const body = [{ op: 'add', path: '/status', value }];
    await member(name).resource(DEPLOYMENTS).patch(WEB, { type: 'json', body }, { subresource: 'status' });
  }

  test('replicas are divided, overridden and applied; the namespace and the ConfigMap follow', async () => {
    const { hub } = fleet;
    const metadata = { name: 'conf', namespace: 'demo' };
    await hub.resource(CONFIG_MAPS).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } });
    await hub.resource(OVERRIDE_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'OverridePolicy',
      metadata: { name: 'registry', namespace: 'demo' },
      spec: {
        overrideRules: [
          {
            targetCluster: { fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['us'] }] } },
            overriders: { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'us.example.com' }] },
          },
        ],
      },
    });
    await hub.resource(PROPAGATION_POLICIES).create(policy);
    const podSpec = { volumes: [{ name: 'conf', configMap: { name: 'conf' } }] };
    const { uid: _, ...ofWeb } = deployment(9).metadata ?? {};
    await hub.resource(DEPLOYMENTS).create({ ...deployment(9, { podSpec }), metadata: ofWeb } as Deployment);
    assert.equal(image(await standsWith('ant', 6)), 'nginx:1.29');
    assert.equal(image(await standsWith('bee', 3)), 'us.example.com/nginx:1.29');
    for (const name of ['ant', 'bee']) {
      await untilObject(
        member(name),
        CONFIG_MAPS,
        { namespace: 'demo', name: 'conf' },
        (object) => object?.data?.['key'] === 'value',
      );
      const madeNamespace = await member(name).resource(NAMESPACES).get({ name: 'demo' });
      assert.equal(madeNamespace.metadata?.labels?.['asterism.dev/managed'], 'auto');
    }
  });

  test('the binding says who has what and why, in one status', async () => {
    const applied = await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) =>
      (binding?.status?.conditions ?? []).some(({ type, status }) => type === 'FullyApplied' && status === 'True'),
    );
    assert.deepEqual(applied?.spec.clusters, [
      { name: 'ant', replicas: 6 },
      { name: 'bee', replicas: 3 },
    ]);
    assert.deepEqual(
      applied?.spec.decisions?.map(({ cluster, message }) => `${cluster} ${message}`),
      ['ant gets 6 of 9 replicas: weight 2 of 3', 'bee gets 3 of 9 replicas: weight 1 of 3'],
    );
    assert.deepEqual(
      applied?.status?.conditions?.map(({ type, status, message }) => `${type} ${status}: ${message}`),
      ['Scheduled True: placed in 2 clusters', 'FullyApplied True: applied in 2 of 2 clusters'],
    );
    assert.equal(applied?.status?.observedGeneration, applied?.metadata.generation);
    const work = await fleet.hub
      .resource(WORKS)
      .get({ namespace: clusterNamespace('bee'), name: 'demo.web-deployment' });
    assert.equal(work.metadata.annotations?.['asterism.dev/applied-overrides'], 'demo/registry');
  });

  test('what the members report becomes the status of the template', async () => {
    await rollOut('ant');
    const half = await untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => object?.status?.readyReplicas === 6);
    assert.equal(half?.status?.conditions?.find(({ type }) => type === 'Available')?.status, 'False');
    await rollOut('bee');
    const whole = await untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => object?.status?.readyReplicas === 9);
    assert.equal(whole?.status?.observedGeneration, whole?.metadata?.generation);
    assert.equal(whole?.status?.conditions?.find(({ type }) => type === 'Available')?.status, 'True');
    assert.equal(
      whole?.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason,
      'NewReplicaSetAvailable',
    );
  });

  test('drift is corrected, and what is not ours is left', async () => {
    const drifted = { metadata: { labels: { 'their/own': 'label' } }, spec: { replicas: 1, minReadySeconds: 7 } };
    await member('ant').resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: drifted });
    const corrected = await standsWith('ant', 6);
    assert.equal(corrected?.spec?.minReadySeconds, 7);
    assert.equal(corrected?.metadata?.labels?.['their/own'], 'label');
    await member('bee').resource(DEPLOYMENTS).delete(WEB);
    await standsWith('bee', 3);
    await rollOut('bee');
  });

  test('scaling moves only what must move', async () => {
    await fleet.hub.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body: { spec: { replicas: 12 } } });
    await Promise.all([standsWith('ant', 8), standsWith('bee', 4)]);
    await Promise.all([rollOut('ant'), rollOut('bee')]);
    const scaled = await untilObject(fleet.hub, DEPLOYMENTS, WEB, (object) => object?.status?.readyReplicas === 12);
    assert.equal(scaled?.status?.observedGeneration, scaled?.metadata?.generation);
  });

  test('a restart writes nothing', async () => {
    await fleet.stop();
    fleet.writes.length = 0;
    await fleet.run();
    // Two rounds of a change that goes all the way: what the start itself asked for is long done then.
    for (const key of ['newer', 'newest']) {
      const conf = { namespace: 'demo', name: 'conf' };
      await fleet.hub.resource(CONFIG_MAPS).patch(conf, { type: 'merge', body: { data: { key } } });
      for (const name of ['ant', 'bee']) {
        await untilObject(member(name), CONFIG_MAPS, conf, (object) => object?.data?.['key'] === key);
      }
    }
    assert.deepEqual(
      fleet.writes.filter((write) => !write.includes('conf')),
      [],
    );
    assert.ok(fleet.writes.length > 0);
  });

  test('deleting the template empties the members', async () => {
    await fleet.hub.resource(DEPLOYMENTS).delete(WEB);
    for (const name of ['ant', 'bee']) {
      await untilObject(member(name), DEPLOYMENTS, WEB, (object) => object === undefined);
      await untilObject(
        member(name),
        CONFIG_MAPS,
        { namespace: 'demo', name: 'conf' },
        (object) => object === undefined,
      );
    }
    await untilObject(fleet.hub, RESOURCE_BINDINGS, BINDING, (binding) => binding === undefined);
    assert.equal((await fleet.hub.resource(WORKS).list()).items.length, 0);
    assert.equal(
      (await fleet.hub.resource(CONFIG_MAPS).get({ namespace: 'demo', name: 'conf' })).data?.['key'],
      'newest',
    );
  });
});
