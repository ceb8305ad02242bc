import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CLUSTER_REGISTRATIONS,
  clusterNamespace,
  type ClusterRegistration,
  CLUSTERS,
  HUB_CONFIGURATIONS,
  memberProxyPath,
} from '@asterism/fleet/api';
import { DEFAULT_INDEX, JoinError, type JoinErrorCode } from '@asterism/fleet/join';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  findCondition,
  isConditionTrue,
  LEASES,
  NAMESPACES,
  NODES,
  PODS,
  ROLES,
  SECRETS,
} from '@asterism/machinery';
import { AGENT, apply, configure, FAST, TestFleet, untilOne } from './testing/test-fleet.ts';

const isJoinError = (code: JoinErrorCode, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof JoinError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  return true;
};

describe('joining', () => {
  let fleet: TestFleet;
  let member: TestServer;

  before(async () => {
    fleet = await TestFleet.start();
    member = await fleet.startMember();
  });

  after(() => fleet[Symbol.asyncDispose]());

  test('a cluster joins with a token that promises approval, and says how it is', async () => {
    await member.client.resource(NODES).create({ metadata: { name: 'n1' }, spec: { podCIDRs: ['10.1.0.0/24'] } });
    const status = {
      capacity: { cpu: '4', memory: '8Gi' },
      allocatable: { cpu: '3500m', memory: '7Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await member.client
      .resource(NODES)
      .patch({ name: 'n1' }, { type: 'merge', body: { status } }, { subresource: 'status' });
    const facts = { provider: 'own', region: 'north', zones: ['a'], labels: { team: 'blue' } };
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true, facts });
    const description = {
      provider: 'other',
      region: 'north',
      zones: ['a', 'z'],
      labels: { team: 'red', tier: 'gold' },
    };
    await fleet.join(member, { token, description }).ready;

    const { client } = fleet.hub;
    const cluster = await untilObject(client, CLUSTERS, { name: 'edge-1' }, (each) => each?.status?.nodes?.total === 1);
    const kubeSystem = await member.client.resource(NAMESPACES).get({ name: 'kube-system' });
    assert.equal(cluster?.spec.id, kubeSystem.metadata?.uid);
    assert.deepEqual(cluster?.spec.connection, { type: 'Tunnel' }, 'the hub holds no address');
    assert.deepEqual(cluster?.metadata.labels, { team: 'blue' });
    assert.deepEqual([cluster?.spec.provider, cluster?.spec.region, cluster?.spec.zones], ['own', 'north', ['a']]);
    assert.ok(isConditionTrue(cluster?.status?.conditions, 'Ready'));
    assert.deepEqual(cluster?.status?.nodes, { total: 1, ready: 1, notReady: 0, schedulable: 1 });
    assert.deepEqual(cluster?.status?.glance, { nodes: '1/1', freeCPU: '3.5', freeMemory: '7Gi' });
    assert.deepEqual(cluster?.status?.apiServer?.readyz, { ok: true });
    assert.deepEqual(cluster?.status?.resources?.allocatable, { cpu: '3500m', memory: '7Gi' });
    assert.deepEqual(cluster?.status?.podCIDRs, ['10.1.0.0/24']);
    assert.match(cluster?.status?.kubernetesVersion ?? '', /^v1\./);
    const apps = cluster?.status?.apis?.find(({ groupVersion }) => groupVersion === 'apps/v1');
    assert.ok(apps?.resources.some(({ name, kind }) => name === 'deployments' && kind === 'Deployment'));

    const [registration] = (await client.resource(CLUSTER_REGISTRATIONS).list()).items;
    assert.equal(registration?.status?.decision, 'Approved');
    assert.match(registration?.status?.decidedBy ?? '', /^system:bootstrap:/);
    assert.equal(registration?.status?.namespace, clusterNamespace('edge-1'));
    const refused = { provider: 'other', zones: ['z'], labels: { team: 'red', tier: 'gold' } };
    assert.deepEqual(registration?.status?.refused, refused, 'the agent asked for more than the token gives');
  });

  test('the key stays in the member, and nothing secret is in the hub', async () => {
    const { data = {} } = await member.client
      .resource(SECRETS)
      .get({ namespace: 'asterism-system', name: 'agent-credential' });
    const text = (entry: string): string => Buffer.from(data[entry] ?? '', 'base64').toString();
    assert.match(text('tls.key'), /BEGIN PRIVATE KEY/);
    assert.match(text('tls.crt'), /BEGIN CERTIFICATE/);
    const secrets = await fleet.hub.client.resource(SECRETS).list({ namespace: clusterNamespace('edge-1') });
    assert.deepEqual(secrets.items, [], 'a cluster that pulls gives the hub nothing');
    const seen = JSON.stringify([
      await fleet.hub.client.resource(CLUSTER_REGISTRATIONS).list(),
      await fleet.hub.client.resource(CERTIFICATE_SIGNING_REQUESTS).list(),
      await fleet.hub.client.resource(CLUSTERS).list(),
    ]);
    assert.ok(!seen.includes(data['tls.key'] ?? 'PRIVATE KEY'));
  });

  test('its status follows the member', async () => {
    await apply(member.client, [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'default' },
        spec: {
          nodeName: 'n1',
          containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '250m', memory: '64Mi' } } }],
        },
      },
    ]);
    const { client } = fleet.hub;
    const cpu = (value: string | undefined) =>
      untilObject(
        client,
        CLUSTERS,
        { name: 'edge-1' },
        (each) => each?.status?.resources?.allocated?.['cpu'] === value,
      );
    assert.equal((await cpu('250m'))?.status?.resources?.allocated?.['pods'], '1');
    await member.client.resource(PODS).delete({ namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
    await cpu(undefined);
    await member.client.resource(NODES).delete({ name: 'n1' });
    await untilObject(client, CLUSTERS, { name: 'edge-1' }, (each) => each?.status?.nodes?.total === 0);
    const before = (await client.resource(CLUSTERS).get({ name: 'edge-1' })).metadata.resourceVersion;
    await untilObject(client, LEASES, { namespace: clusterNamespace('edge-1'), name: 'agent' }, beats(3));
    const after_ = (await client.resource(CLUSTERS).get({ name: 'edge-1' })).metadata.resourceVersion;
    assert.equal(after_, before, 'nothing changed, nothing is written');
  });

  test('rights that somebody took away by hand are put back', async () => {
    const ref = { namespace: clusterNamespace('edge-1'), name: 'asterism:agent' };
    const before = await fleet.hub.client.resource(ROLES).get(ref);
    await fleet.hub.client.resource(ROLES).patch(ref, { type: 'merge', body: { rules: [] } });
    const after_ = await untilObject(fleet.hub.client, ROLES, ref, (role) => (role?.rules ?? []).length > 0);
    assert.deepEqual(after_?.rules, before.rules);
    const lease = { namespace: ref.namespace, name: 'agent' };
    await fleet.hub.client.resource(LEASES).delete(lease);
    await untilObject(fleet.hub.client, LEASES, lease, (each) => each?.spec?.renewTime !== undefined);
  });

  test('a token that promises nothing waits for a person, who may let it in', async () => {
    const third = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken();
    const first = fleet.join(third, { clusterName: 'edge-3', token });
    const waiting = await registrationOf('edge-3', (each) => each.status?.message !== undefined);
    await first.stop();
    const agent = fleet.join(third, { clusterName: 'edge-3', token });
    assert.equal(waiting.status?.decision, undefined);
    assert.equal(findCondition(waiting.status?.conditions, 'Complete')?.reason, 'AwaitingApproval');
    const names = (await fleet.hub.client.resource(CLUSTERS).list()).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['edge-1']);
    await decide(waiting.metadata.name ?? '', { decision: 'Approved', decidedBy: 'ann' });
    await agent.ready;
    const approved = await registrationOf('edge-3', (each) => isConditionTrue(each.status?.conditions, 'Complete'));
    assert.equal(approved.status?.decidedBy, 'ann');
    const all = (await fleet.hub.client.resource(CLUSTER_REGISTRATIONS).list()).items;
    const asked = all.filter(({ spec }) => spec.clusterName === 'edge-3').length;
    assert.equal(asked, 1, 'an agent that was started again goes on with its request');
  });

  test('what search keeps of a cluster that joins is what the configuration says, and what people look for without', async () => {
    const clusters = fleet.hub.client.resource(CLUSTERS);
    const index = [{ group: 'apps', resources: ['deployments'] }];
    await configure(fleet.hub.client, { index });
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(await fleet.startMember(), { clusterName: 'edge-14', token }).ready;
    assert.deepEqual((await clusters.get({ name: 'edge-14' })).spec.index, index);
    assert.deepEqual((await clusters.get({ name: 'edge-1' })).spec.index, DEFAULT_INDEX);
    await fleet.hub.client.resource(HUB_CONFIGURATIONS).delete({ name: 'hub' });
    await clusters.delete({ name: 'edge-14' });
  });

  test('an agent that was killed after its approval and before it kept its certificate gets in with what it kept', async () => {
    const other = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken();
    const killed = fleet.join(other, { clusterName: 'edge-5', token });
    const { metadata, spec } = await registrationOf('edge-5', (each) => each.status?.message !== undefined);
    await killed.stop();
    await decide(metadata.name ?? '', { decision: 'Approved', decidedBy: 'ann' });
    const { client } = fleet.hub;
    const request = { name: spec.certificateRequest };
    const signed = await untilObject(
      client,
      CERTIFICATE_SIGNING_REQUESTS,
      request,
      (each) => !!each?.status?.certificate,
    );
    await fleet.join(other, { clusterName: 'edge-5', token }).ready;
    const { data } = await other.client
      .resource(SECRETS)
      .get({ namespace: 'asterism-system', name: 'agent-credential' });
    assert.equal(data?.['tls.crt'], signed?.status?.certificate);
    const all = (await client.resource(CLUSTER_REGISTRATIONS).list()).items;
    assert.equal(all.filter((each) => each.spec.clusterName === 'edge-5').length, 1);
  });

  test('or deny it, which ends the agent with the reason', async () => {
    const other = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken();
    const agent = fleet.join(other, { clusterName: 'edge-4', token });
    const { metadata } = await registrationOf('edge-4', () => true);
    await decide(metadata.name ?? '', { decision: 'Denied', decidedBy: 'ann', message: 'not ours' });
    await assert.rejects(agent.done, isJoinError('Denied', /"edge-4".*ann.*not ours/));
    await assert.rejects(agent.ready, isJoinError('Denied', /not ours/));
    // Started again, it is told the same and asks for nothing new.
    await assert.rejects(fleet.join(other, { clusterName: 'edge-4', token }).done, isJoinError('Denied', /not ours/));
    const all = (await fleet.hub.client.resource(CLUSTER_REGISTRATIONS).list()).items;
    assert.equal(all.filter(({ spec }) => spec.clusterName === 'edge-4').length, 1);
  });

  test('a name that is taken, a token for another cluster, a second name for the same cluster: denied', async () => {
    const other = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await assert.rejects(
      fleet.join(other, { token }).done,
      isJoinError('Denied', /another cluster.*joined as "edge-1"/),
    );
    const bound = await fleet.hub.createBootstrapToken({ autoApprove: true, cluster: 'edge-9' });
    const elsewhere = fleet.join(other, { clusterName: 'edge-8', token: bound.token });
    await assert.rejects(elsewhere.done, isJoinError('Denied', /for cluster "edge-9"/));
    await member.client.resource(SECRETS).delete({ namespace: 'asterism-system', name: 'agent-credential' });
    const renamed = fleet.join(member, { clusterName: 'edge-7', token });
    await assert.rejects(renamed.done, isJoinError('Denied', /joined as "edge-1"/));
  });

  test('a wrong name for a cluster that has joined ends its agent, and costs nothing', async () => {
    const known = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const agent = fleet.join(known, { clusterName: 'edge-12', token });
    await agent.ready;
    await agent.stop();
    const wrong = fleet.join(known, { clusterName: 'edge-13', token });
    await assert.rejects(wrong.done, isJoinError('JoinedAsAnother', /as "edge-12": start its agent with that name/));
    await fleet.join(known, { clusterName: 'edge-12' }).ready;
  });

  test('a known cluster without the key of its first registration gets nothing, whatever its token promises', async () => {
    await member.client.resource(SECRETS).delete({ namespace: 'asterism-system', name: 'agent-credential' });
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const agent = fleet.join(member, { token });
    const waiting = await registrationOf(
      'edge-1',
      (each) => findCondition(each.status?.conditions, 'Complete')?.reason === 'KeyDiffers',
    );
    const request = await fleet.hub.client
      .resource(CERTIFICATE_SIGNING_REQUESTS)
      .get({ name: waiting.spec.certificateRequest });
    assert.equal(request.status?.certificate, undefined);
    await decide(waiting.metadata.name ?? '', { decision: 'Approved', decidedBy: 'ann' });
    await agent.ready;
  });

  const wrong: [name: string, options: () => Promise<Parameters<TestFleet['join']>[1]>, JoinErrorCode, RegExp][] = [
    ['a wrong token', async () => ({ token: 'abcdef.0123456789abcdef' }), 'TokenRefused', /administrator of the hub/],
    [
      'an expired token',
      async () => ({ token: (await fleet.hub.createBootstrapToken({ ttl: -1_000, autoApprove: true })).token }),
      'TokenRefused',
      /expired/,
    ],
    ['no token', async () => ({}), 'TokenMissing', /administrator of the hub/],
    [
      'a hub that is not there',
      async () => ({
        hub: { server: 'https://127.0.0.1:1', ca: fleet.hub.ca, token: 'abcdef.0123456789abcdef' },
        timing: { ...FAST, patienceMs: 50 },
      }),
      'HubUnreachable',
      /ECONNREFUSED/,
    ],
    [
      'another hub than the pin names',
      async () => ({
        hub: { server: fleet.hub.url, ca: `sha256:${'0'.repeat(64)}`, token: 'abcdef.0123456789abcdef' },
      }),
      'HubNotTrusted',
      /is not the hub/,
    ],
    [
      'another hub than the CA vouches for',
      async () => ({ hub: { server: fleet.hub.url, ca: member.ca.cert, token: 'abcdef.0123456789abcdef' } }),
      'HubNotTrusted',
      /vouches for/,
    ],
    [
      'a member that does not know the agent',
      async () => ({ token: 'abcdef.0123456789abcdef', member: member.connectionAs({ username: 'x', groups: [] }) }),
      'MemberForbidden',
      /manifests/,
    ],
    [
      'a member that is not there',
      async () => ({
        member: { server: 'https://127.0.0.1:1', credential: { kind: 'none' } },
        timing: { ...FAST, patienceMs: 50 },
      }),
      'MemberUnreachable',
      /own API server/,
    ],
    ['Push without an address', async () => ({ syncMode: 'Push' }), 'EndpointMissing', /endpoint\.server/],
  ];
  for (const [name, options, code, says] of wrong) {
    test(`${name} ends the agent with what to do`, async () => {
      const fresh = await fleet.startMember();
      const { member: connection = fresh.connectionAs(AGENT), ...rest } = (await options()) ?? {};
      await assert.rejects(
        fleet.join(fresh, { clusterName: 'edge-10', member: connection, ...rest }).done,
        isJoinError(code, says),
      );
    });
  }

  test('an agent whose Cluster was deleted loses its tunnel at once, and its place', async () => {
    const gone = await fleet.startMember();
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const agent = fleet.join(gone, { clusterName: 'edge-11', token });
    await agent.ready;
    const admin = fleet.client(fleet.hub.adminConnection);
    const cluster = await admin.resource(CLUSTERS).get({ name: 'edge-11' });
    await admin.resource(CLUSTERS).delete({ name: 'edge-11' });
    await untilObject(admin, NAMESPACES, { name: clusterNamespace('edge-11') }, (each) => each === undefined);
    const answer = await admin.request({ method: 'GET', path: `${memberProxyPath('edge-11')}/version` });
    answer.body.resume();
    assert.equal(answer.status, 404);
    await assert.rejects(agent.done, isJoinError('CredentialRefused', /has the cluster left/));
    await assert.rejects(fleet.join(gone, { clusterName: 'edge-11' }).done, isJoinError('CredentialRefused', /left/));
    await fleet.join(gone, { clusterName: 'edge-11', token }).ready;
    const again = await admin.resource(CLUSTERS).get({ name: 'edge-11' });
    assert.notEqual(again.metadata.uid, cluster.metadata.uid, 'with a token it joins again, as a new Cluster');
    assert.equal(again.spec.publicKeyHash, cluster.spec.publicKeyHash, 'with the key that it had');
  });

  /** A predicate that wants a Lease to have been renewed so many times. */
  function beats(count: number): (lease: { spec?: { renewTime?: string } } | undefined) => boolean {
    const seen = new Set<string | undefined>();
    return (lease) => seen.add(lease?.spec?.renewTime).size > count;
  }

  /** The registration of that cluster which is as wanted, as soon as there is one. */
  function registrationOf(clusterName: string, wanted: (each: ClusterRegistration) => boolean) {
    return untilOne(
      fleet.hub.client,
      CLUSTER_REGISTRATIONS,
      (each) => each.spec.clusterName === clusterName && wanted(each),
    );
  }

  async function decide(name: string, status: object): Promise<void> {
    await fleet.hub.client
      .resource(CLUSTER_REGISTRATIONS)
      .patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  }
});
