import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Agent } from '@asterism/agent';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  type Cluster,
  CLUSTER_REGISTRATIONS,
  clusterNamespace,
  CLUSTERS,
  PROPAGATION_POLICIES,
  SYSTEM_NAMESPACE,
} from '@asterism/fleet/api';
import {
  askToLeave,
  createBootstrapToken,
  forceOut,
  leavingMessage,
  memberManifests,
  removeTokensOf,
} from '@asterism/fleet/join';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  isConditionTrue,
  NAMESPACES,
  SECRETS,
} from '@asterism/machinery';
import { apply, TestFleet, untilOne } from './testing/test-fleet.ts';

let fleet: TestFleet;
let hub: Client;
beforeEach(async () => {
  fleet = await TestFleet.start();
  hub = fleet.client(fleet.hub.adminConnection);
});
afterEach(() => fleet[Symbol.asyncDispose]());

const PLACED = { namespace: 'default', name: 'settings' };

/** A member that has joined, with a ConfigMap that was placed there and one that was not. */
async function joined(syncMode: 'Pull' | 'Push'): Promise<{ member: TestServer; agent: Agent; cluster: Cluster }> {
  const member = await fleet.startMember(syncMode);
  await apply(member.client, [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'own' } },
  ]);
  const { token } = await createBootstrapToken(hub, { autoApprove: true, cluster: 'edge-1' });
  const endpoint = { server: member.url, caBundle: member.ca.cert };
  const agent = fleet.join(member, { token, syncMode, ...(syncMode === 'Push' ? { endpoint } : {}) });
  await agent.ready;
  await apply(hub, [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: PLACED, data: { colour: 'green' } },
    {
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: PLACED,
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: PLACED.name }],
        placement: { clusterAffinity: { clusterNames: ['edge-1'] } },
      },
    },
  ]);
  await untilObject(member.client, CONFIG_MAPS, PLACED, (object) => object !== undefined);
  return { member, agent, cluster: await hub.resource(CLUSTERS).get({ name: 'edge-1' }) };
}

async function nothingIsLeftInTheHub(): Promise<void> {
  await untilObject(hub, CLUSTERS, { name: 'edge-1' }, (cluster) => cluster === undefined);
  await untilObject(hub, NAMESPACES, { name: clusterNamespace('edge-1') }, (namespace) => namespace === undefined);
  await untilObject(hub, CLUSTER_ROLES, { name: 'asterism:agent:edge-1' }, (role) => role === undefined);
  assert.deepEqual((await hub.resource(CLUSTER_REGISTRATIONS).list()).items, []);
}

async function nothingIsLeftInTheMember({ client }: TestServer): Promise<void> {
  for (const name of ['asterism:agent', 'asterism:hub', 'asterism:callers']) {
    await untilObject(client, CLUSTER_ROLE_BINDINGS, { name }, (binding) => binding === undefined);
    await untilObject(client, CLUSTER_ROLES, { name }, (role) => role === undefined);
  }
  await untilObject(client, NAMESPACES, { name: SYSTEM_NAMESPACE }, (namespace) => namespace === undefined);
}

for (const syncMode of ['Pull', 'Push'] as const) {
  describe(`leaving, ${syncMode}`, () => {
    test('what was placed and what the join made goes, on both sides, and nothing else', async () => {
      const { member, cluster } = await joined(syncMode);
      await askToLeave(hub, cluster, 'Drain');
      await untilObject(member.client, CONFIG_MAPS, PLACED, (object) => object === undefined);
      await nothingIsLeftInTheMember(member);
      await nothingIsLeftInTheHub();
      await member.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: 'own' });
      await hub.resource(CONFIG_MAPS).get(PLACED);
      await hub.resource(PROPAGATION_POLICIES).get(PLACED);
    });

    test('what was placed stays where it is to be kept, and is managed no more', async () => {
      const { member, cluster } = await joined(syncMode);
      const { metadata: before } = await member.client.resource(CONFIG_MAPS).get(PLACED);
      await askToLeave(hub, cluster, 'Keep');
      await nothingIsLeftInTheMember(member);
      await nothingIsLeftInTheHub();
      const { metadata, data } = await member.client.resource(CONFIG_MAPS).get(PLACED);
      assert.equal(metadata?.uid, before?.uid);
      assert.deepEqual([data, metadata?.labels?.['asterism.dev/managed']], [{ colour: 'green' }, undefined]);
    });
  });
}

describe('leaving', () => {
  test('a member that is away is waited for, and the condition says so; a hub that was killed goes on', async () => {
    const { member, agent, cluster } = await joined('Pull');
    await agent.stop();
    await askToLeave(hub, cluster, 'Drain');
    await untilOne(hub, CLUSTERS, ({ status }) => isConditionTrue(status?.conditions, 'Leaving'));
    const { port } = new URL(fleet.hub.url);
    await fleet.hub.stop();
    await fleet.startHub({ listen: { host: '127.0.0.1', port: Number(port) } });
    hub = fleet.client(fleet.hub.adminConnection);
    const { status } = await hub.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.match(JSON.stringify(status?.conditions), /1 Work is still to be taken out: /);
    fleet.join(member);
    await nothingIsLeftInTheMember(member);
    await nothingIsLeftInTheHub();
  });

  test('a namespace that somebody else uses too stays, and what he put there', async () => {
    const { member, cluster } = await joined('Pull');
    const theirs = { namespace: SYSTEM_NAMESPACE, name: 'theirs' };
    await apply(member.client, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: theirs }]);
    await askToLeave(hub, cluster, 'Drain');
    await untilObject(member.client, CLUSTER_ROLES, { name: 'asterism:agent' }, (role) => role === undefined);
    const key = { namespace: SYSTEM_NAMESPACE, name: 'agent-credential' };
    await untilObject(member.client, SECRETS, key, (secret) => secret === undefined);
    await nothingIsLeftInTheHub();
    await member.client.resource(CONFIG_MAPS).get(theirs);
  });

  /** A Push member in which nothing was placed, and the one credential by which the hub comes to it: its agent renews it no more. */
  async function handedOver(member: TestServer) {
    const { token } = await createBootstrapToken(hub, { autoApprove: true });
    const endpoint = { server: member.url, caBundle: member.ca.cert };
    const agent = fleet.join(member, { token, syncMode: 'Push', endpoint });
    await agent.ready;
    await agent.stop();
    const ref = { namespace: clusterNamespace('edge-1'), name: 'hub-credential' };
    const { data: good = {} } = await hub.resource(SECRETS).get(ref);
    const give = (token?: string) => {
      const data = token === undefined ? good : { token: Buffer.from(token).toString('base64') };
      return hub.resource(SECRETS).patch(ref, { type: 'merge', body: { data } });
    };
    return { give, cluster: await hub.resource(CLUSTERS).get({ name: 'edge-1' }) };
  }

  test('a member that refuses the hub has not been left: it is told, and goes on with a credential that it takes', async () => {
    const member = await fleet.startMember('Push');
    const { give, cluster } = await handedOver(member);
    await give('expired');
    await askToLeave(hub, cluster, 'Drain');
    const waiting = await untilObject(hub, CLUSTERS, { name: 'edge-1' }, (live) =>
      live === undefined ? assert.fail('it is gone') : /cannot be taken out/.test(leavingMessage(live) ?? ''),
    );
    assert.match(
      (waiting && leavingMessage(waiting)) ?? '',
      /it refuses the hub's credential \(Secret asterism-cluster-edge-1\/hub-credential; 401\): .*aster leave edge-1 --force lets it go; what bears asterism\.dev\/made-by=join .* is left behind there$/,
    );
    for (const name of ['asterism:hub', 'asterism:callers']) {
      await member.client.resource(CLUSTER_ROLES).get({ name });
      await member.client.resource(CLUSTER_ROLE_BINDINGS).get({ name });
    }
    await give();
    await askToLeave(hub, waiting ?? cluster, 'Keep');
    await nothingIsLeftInTheMember(member);
    await nothingIsLeftInTheHub();
  });

  test('a member that refuses the hub because its rights went with the rest has been left', async () => {
    await using member = await startTestServer({ faults: true });
    await apply(member.client, memberManifests({ syncMode: 'Push' }));
    const { cluster } = await handedOver(member);
    const root = { verb: 'delete', resource: 'clusterrolebindings.rbac.authorization.k8s.io', name: 'asterism:hub' };
    const lost = member.faults.inject({ kind: 'lost-answer' }, root);
    await askToLeave(hub, cluster, 'Drain');
    await lost.hit();
    await nothingIsLeftInTheHub();
    await nothingIsLeftInTheMember(member);
  });

  test('by force the tunnel is cut within a second, and the agent let in no more', async () => {
    const { member, agent, cluster } = await joined('Pull');
    const begun = Date.now();
    await forceOut(hub, cluster);
    while (
      await fleet.reached('edge-1').then(
        () => true,
        (error: Error) => !/not found/.test(error.message),
      )
    );
    assert.ok(Date.now() - begun < 1_000, `${Date.now() - begun} ms`);
    await nothingIsLeftInTheHub();
    await assert.rejects(agent.done, /it left|does not take|gives it no rights/);
    await member.client.resource(CONFIG_MAPS).get(PLACED);
  });

  test('tokens that were made for the cluster go with it, and no others', async () => {
    await joined('Pull');
    const other = await createBootstrapToken(hub, { cluster: 'edge-10' });
    assert.equal(await removeTokensOf(hub, 'edge-1'), 1);
    await hub.resource(SECRETS).get({ namespace: 'kube-system', name: `bootstrap-token-${other.id}` });
    assert.equal(await removeTokensOf(hub, 'edge-1'), 0);
  });
});
