import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { startTestServer, untilObject } from '@asterism/apiserver/testing';
import { type Client, systemClock } from '@asterism/client';
import { clusterNamespace, CLUSTERS, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { askToLeave, clusterId, type DirectJoin, directJoinFault, joinDirect } from '@asterism/fleet/join';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  isConditionTrue,
  type KubeObject,
  LEASES,
  NAMESPACES,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { apply, configure, TestFleet } from './testing/test-fleet.ts';

describe('a member without an agent', () => {
  let fleet: TestFleet;
  let hub: Client;
  let member: TestServer;
  let join: DirectJoin;
  before(async () => {
    fleet = await TestFleet.start();
    hub = fleet.client(fleet.hub.adminConnection);
    member = await startTestServer();
    await configure(fleet.hub.client, { index: [] });
    join = {
      clusterName: 'direct-1',
      endpoint: { server: member.url, caBundle: member.ca.cert },
      description: { region: 'eu', labels: { tier: 'edge' } },
    };
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
    await member[Symbol.asyncDispose]();
  });

  const run = (change: Partial<DirectJoin> = {}) =>
    joinDirect({ ...join, ...change }, { hub, member: member.client, clock: systemClock, patienceMs: 5_000 });
  const ready = () =>
    untilObject(hub, CLUSTERS, { name: 'direct-1' }, (cluster) =>
      isConditionTrue(cluster?.status?.conditions, 'Ready'),
    );
  const callersRole = { name: 'asterism:callers' };
  /** What bears the label in the member, as `Kind/name`. */
  async function madeByJoin(): Promise<string[]> {
    const kinds = [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, NAMESPACES, SERVICE_ACCOUNTS] as const;
    const options = { labelSelector: 'asterism.dev/made-by=join' };
    const lists = await Promise.all(kinds.map((type) => member.client.resource<KubeObject>(type).list(options)));
    return lists.flatMap(({ items }, index) => items.map(({ metadata }) => `${kinds[index]?.kind}/${metadata?.name}`));
  }
  const secret = () => hub.resource(SECRETS).get({ namespace: clusterNamespace('direct-1'), name: 'hub-credential' });

  test('is joined, told of, beaten for; the hub comes as an account of its own and renews its token', async () => {
    const { spec, metadata } = await run();
    assert.deepEqual(spec.index, []);
    const first = (await secret()).data?.['token'];
    assert.deepEqual([spec.region, metadata.labels, spec.syncMode], ['eu', { tier: 'edge' }, 'Push']);
    const cluster = await ready();
    assert.match(cluster?.status?.kubernetesVersion ?? '', /^v1\./);
    const lease = { namespace: clusterNamespace('direct-1'), name: 'agent' };
    await untilObject(hub, LEASES, lease, (object) => object?.spec?.holderIdentity?.startsWith('hub-') === true);
    const renewed = { namespace: clusterNamespace('direct-1'), name: 'hub-credential' };
    await untilObject(hub, SECRETS, renewed, (object) => object?.data?.['token'] !== first);
    const claims =
      Buffer.from((await secret()).data?.['token'] ?? '', 'base64')
        .toString()
        .split('.')[1] ?? '';
    const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string };
    assert.equal(sub, 'system:serviceaccount:asterism-system:asterism-hub');
  });

  test('called again it goes on: what administrators set stays, how it is reached is put right', async () => {
    const clusters = hub.resource(CLUSTERS);
    const taints = [{ key: 'mine', effect: 'NoSchedule' as const }];
    await clusters.patch({ name: 'direct-1' }, { type: 'merge', body: { spec: { taints } } });
    await run({ description: { region: 'us' } });
    const { spec } = await clusters.get({ name: 'direct-1' });
    assert.deepEqual([spec.region, spec.taints], ['eu', taints]);
    await ready();
  });

  test('a name that another cluster has, another name for this one, one with an agent', async () => {
    const { items } = await hub.resource(CLUSTERS).list();
    const id = await clusterId(member.client);
    assert.equal(directJoinFault('direct-1', id, items), undefined);
    assert.match(directJoinFault('direct-1', 'other', items) ?? '', /the name "direct-1" belongs to another cluster/);
    assert.match(directJoinFault('direct-2', id, items) ?? '', /has joined as "direct-1": give --name direct-1/);
    const withAgent = items.map((each) => ({
      ...each,
      spec: { ...each.spec, publicKeyHash: `sha256:${'0'.repeat(64)}` },
    }));
    assert.match(directJoinFault('direct-1', id, withAgent) ?? '', /has joined with an agent/);
    assert.equal(directJoinFault('direct-2', 'other', items), undefined);
  });

  test('leaves as any other: account and namespace go, what is not ours stays', async () => {
    const own = { namespace: 'default', name: 'own' };
    await apply(member.client, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: own }]);
    await askToLeave(hub, await hub.resource(CLUSTERS).get({ name: 'direct-1' }), 'Drain');
    await untilObject(hub, CLUSTERS, { name: 'direct-1' }, (cluster) => cluster === undefined);
    const { client } = member;
    await untilObject(client, CLUSTER_ROLE_BINDINGS, { name: 'asterism:hub' }, (binding) => binding === undefined);
    await untilObject(client, NAMESPACES, { name: SYSTEM_NAMESPACE }, (namespace) => namespace === undefined);
    await client.resource(CONFIG_MAPS).get(own);
    await untilObject(hub, NAMESPACES, { name: clusterNamespace('direct-1') }, (namespace) => namespace === undefined);
  });

  test('with a credential that was given nothing is made there, callers come by its rights, and it is never renewed', async () => {
    const token = member.tokenFor({ username: 'given', groups: ['system:masters'] });
    await run({ given: { token } });
    await ready();
    assert.equal(Buffer.from((await secret()).data?.['token'] ?? '', 'base64').toString(), token);
    const callers = { namespace: clusterNamespace('direct-1'), name: 'callers' };
    await untilObject(hub, CONFIG_MAPS, callers, (object) => object !== undefined);
    assert.match((await fleet.reached('direct-1')).version, /^v1\./);
    assert.deepEqual(await madeByJoin(), []);
    // And back to an account of its own, by which it is then reached.
    await run();
    const { metadata } = await hub.resource(CLUSTERS).get({ name: 'direct-1' });
    assert.equal(metadata.annotations?.['asterism.dev/credential'], undefined);
    await untilObject(member.client, CLUSTER_ROLES, callersRole, (role) => (role?.rules ?? []).length > 0);
  });

  test('leaves by a credential that was given: what a join made goes, though nothing gives the hub its rights there', async () => {
    await run({ given: { token: member.tokenFor({ username: 'given', groups: ['system:masters'] }) } });
    await member.client.resource(CLUSTER_ROLE_BINDINGS).delete({ name: 'asterism:hub' });
    assert.ok((await madeByJoin()).includes('ClusterRole/asterism:callers'));
    await askToLeave(hub, await hub.resource(CLUSTERS).get({ name: 'direct-1' }), 'Drain');
    await untilObject(hub, CLUSTERS, { name: 'direct-1' }, (cluster) => cluster === undefined);
    await untilObject(member.client, NAMESPACES, { name: SYSTEM_NAMESPACE }, (namespace) => namespace === undefined);
    assert.deepEqual(await madeByJoin(), []);
  });
});
