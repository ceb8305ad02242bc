import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  API_VERSION,
  CLUSTER_REGISTRATIONS,
  CLUSTERS,
  type ClusterRegistration,
  clusterNamespace,
  PROPAGATION_POLICIES,
  WORKS,
} from '@asterism/fleet/api';
import { CONFIG_MAPS, type KubeObject, NAMESPACES, SECRETS } from '@asterism/machinery';
import { apply, call, TestFleet, untilOne } from '../../../packages/hub/src/testing/test-fleet.ts';

const API = '/apis/asterism.dev/v1alpha1';

describe('a hostile cluster that joins', () => {
  let fleet: TestFleet;
  let member: TestServer;
  let agent: Client;

  before(async () => {
    fleet = await TestFleet.start();
    const { client } = fleet.hub;
    await client.resource(NAMESPACES).create({ metadata: { name: 'shop' } });
    await apply(client, [
      configMap('secret-plan'),
      configMap('for-all'),
      policy('production', 'secret-plan', {
        clusterAffinity: { labelSelector: { matchLabels: { tier: 'production' } } },
      }),
      policy('region', 'secret-plan', { clusterAffinity: { fieldSelector: inField('region', 'eu') } }),
      policy('zone', 'secret-plan', { clusterAffinity: { fieldSelector: inField('zone', 'a') } }),
      policy('all', 'for-all', {}),
    ]);
    member = await fleet.startMember();
    // It may join without a person, and that is all that the administrator gave away.
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const description = { labels: { tier: 'production' }, region: 'eu', provider: 'own', zones: ['a'] };
    await fleet.join(member, { clusterName: 'edge-1', token, description }).ready;
    agent = await fleet.agentOf(member);
  });
  after(() => fleet?.[Symbol.asyncDispose]());

  test('gets none of the labels, regions and zones that it asks for, and the registration shows them', async () => {
    const { metadata, spec } = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(
      [metadata.labels, spec.region, spec.provider, spec.zones],
      [undefined, undefined, undefined, undefined],
    );
    const { status } = await registration(fleet.hub.client);
    const refused = { labels: { tier: 'production' }, region: 'eu', provider: 'own', zones: ['a'] };
    assert.deepEqual(status?.refused, refused);
    assert.match(status?.message ?? '', /not given: label tier=production, provider own, region eu, zone a/);
  });

  const attempts: [name: string, method: string, path: string, body: object, status: number][] = [
    ['its labels', 'PATCH', `${API}/clusters/edge-1`, { metadata: { labels: { tier: 'production' } } }, 403],
    ['its region', 'PATCH', `${API}/clusters/edge-1`, { spec: { region: 'eu' } }, 403],
    ['its registration', 'PATCH', `${API}/clusterregistrations/x`, { spec: { region: 'eu' } }, 403],
    [
      'its labels with its status',
      'PATCH',
      `${API}/clusters/edge-1/status`,
      { metadata: { labels: { tier: 'production' }, annotations: { a: 'b' } }, spec: { region: 'eu', zones: ['a'] } },
      200,
    ],
    [
      'itself ready, with every kind and a profile',
      'PATCH',
      `${API}/clusters/edge-1/status`,
      {
        status: {
          permissions: { profile: 'full' },
          apis: [{ groupVersion: 'v1', resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }] }],
        },
      },
      200,
    ],
  ];
  for (const [name, method, path, body, status] of attempts) {
    test(`says of ${name} what it likes: ${status}`, async () => {
      assert.equal((await call(agent, method, path, { body })).status, status);
    });
  }

  test('gets the Works for every cluster, and no other, whatever it says', async () => {
    const { client } = fleet.hub;
    const names = async (): Promise<string[]> => {
      const { items } = await client.resource(WORKS).list({ namespace: clusterNamespace('edge-1') });
      return items.flatMap(({ spec }) => spec.manifests.map(({ metadata }) => metadata?.name ?? ''));
    };
    await untilDelivered(client, 'for-all');
    // A template that is placed after all that it said: by then the hub has read it.
    await apply(client, [configMap('last'), policy('last', 'last', {})]);
    await untilDelivered(client, 'last');
    assert.deepEqual((await names()).sort(), ['for-all', 'last']);
    const cluster = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual(
      [cluster.metadata.labels, cluster.spec.region, cluster.spec.zones],
      [undefined, undefined, undefined],
    );
  });

  test('changes nothing by registering again with other wishes', async () => {
    const { client } = fleet.hub;
    await client
      .resource(CLUSTERS)
      .patch({ name: 'edge-1' }, { type: 'merge', body: { metadata: { labels: { tier: 'edge' } } } });
    const before = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    await member.client.resource(SECRETS).delete({ namespace: 'asterism-system', name: 'agent-credential' });
    await client
      .resource(CLUSTERS)
      .patch({ name: 'edge-1' }, { type: 'merge', body: { spec: { publicKeyHash: null } } });
    const { token } = await fleet.hub.createBootstrapToken({
      autoApprove: true,
      facts: { labels: { tier: 'staging' } },
    });
    const again = fleet.join(member, { token, description: { labels: { tier: 'production' }, region: 'eu' } });
    const asked = await untilOne(
      client,
      CLUSTER_REGISTRATIONS,
      ({ status, spec }) =>
        spec.labels?.['tier'] === 'production' && spec.zones === undefined && status?.publicKeyHash !== undefined,
      { timeoutMs: 20_000 },
    );
    const body = { status: { decision: 'Approved', decidedBy: 'ann' } };
    await client
      .resource(CLUSTER_REGISTRATIONS)
      .patch({ name: asked.metadata.name ?? '' }, { type: 'merge', body }, { subresource: 'status' });
    await again.ready;
    const now = await client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual([now.metadata.labels, now.spec.region], [before.metadata.labels, undefined]);
  });
});

async function registration(client: Client): Promise<ClusterRegistration> {
  const { items } = await client.resource(CLUSTER_REGISTRATIONS).list();
  return items.find(({ spec }) => spec.clusterName === 'edge-1') ?? assert.fail('no registration');
}

/** Waits until a Work for the cluster has the ConfigMap. */
async function untilDelivered(client: Client, name: string): Promise<void> {
  await untilOne(client, WORKS, ({ spec }) => spec.manifests.some(({ metadata }) => metadata?.name === name), {
    namespace: clusterNamespace('edge-1'),
    timeoutMs: 20_000,
  });
}

const inField = (key: string, value: string) => ({ matchExpressions: [{ key, operator: 'In', values: [value] }] });

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { a: 'b' },
});

function policy(name: string, configMapName: string, placement: object): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: PROPAGATION_POLICIES.kind,
    metadata: { name, namespace: 'shop' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: CONFIG_MAPS.kind, name: configMapName }], placement },
  };
}
