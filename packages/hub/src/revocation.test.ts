import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Agent } from '@asterism/agent';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, readBody } from '@asterism/client';
import { agentKeyGroup, clusterNamespace, CLUSTERS, memberProxyPath } from '@asterism/fleet/api';
import { CLUSTER_ROLE_BINDINGS, NAMESPACES, ROLE_BINDINGS, SECRETS } from '@asterism/machinery';
import { apply, call, TestFleet } from './testing/test-fleet.ts';

const OTHER_KEY = `sha256:${'ab'.repeat(32)}`;
const API = '/apis/asterism.dev/v1alpha1';
const PROXY = '/apis/proxy.asterism.dev/v1alpha1/clusters';

/** In a member: the hub's administrators may look. */
const VIEW = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'hub-admins' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'asterism:admins' }],
};

describe('an agent’s rights are its key’s', () => {
  let fleet: TestFleet;
  let admin: Client;
  let token: string;

  before(async () => {
    fleet = await TestFleet.start();
    admin = fleet.client(fleet.hub.adminConnection);
    ({ token } = await fleet.hub.createBootstrapToken({ autoApprove: true }));
  });
  after(() => fleet[Symbol.asyncDispose]());

  interface Joined {
    agent: Agent;
    member: TestServer;
    /** The agent, as somebody who has taken its certificate. */
    holder: Client;
  }

  async function joined(clusterName: string): Promise<Joined> {
    const member = await fleet.startMember();
    await apply(member.client, [VIEW]);
    const agent = fleet.join(member, { clusterName, token });
    await agent.ready;
    return { agent, member, holder: await fleet.agentOf(member) };
  }

  /** Every door of an agent, with what it answers: 403 where its rights are gone. */
  async function statuses(client: Client, name: string): Promise<number[]> {
    const namespace = clusterNamespace(name);
    const paths: [method: string, path: string][] = [
      ['GET', `${API}/clusters/${name}`],
      ['GET', `${API}/namespaces/${namespace}/works`],
      ['GET', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/agent`],
      ['PATCH', `${API}/clusters/${name}/status`],
      ['POST', `${PROXY}/${name}/attach`],
      ['POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests'],
    ];
    const bodyOf = (method: string) => (method === 'GET' ? {} : { body: {} });
    const answers = paths.map(([method, path]) => call(client, method, path, bodyOf(method)));
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  /** How long it took until all of the holder's doors were shut, ms. */
  async function shut(holder: Client, name: string): Promise<number> {
    const began = performance.now();
    for (;;) {
      const seen = await statuses(holder, name);
      const took = performance.now() - began;
      if (seen.every((status) => status === 403)) return took;
      assert.ok(took < 5_000, `still open: ${seen.join()}`);
    }
  }

  /** A call that stays: a watch in the member, through the tunnel. Resolves when it is cut, with how long that took. */
  async function longCall(name: string): Promise<() => Promise<number>> {
    const path = `${memberProxyPath(name)}/api/v1/configmaps?watch=true`;
    const { status, body } = await admin.request({ method: 'GET', path, long: true });
    assert.equal(status, 200);
    const ended = new Promise<void>((resolve) => body.once('close', resolve));
    body.on('error', () => {});
    body.resume();
    return async () => {
      const began = performance.now();
      await ended;
      return performance.now() - began;
    };
  }

  test('its bindings name the key, and nobody’s name', async () => {
    const { member } = await joined('edge-1');
    const { spec } = await admin.resource(CLUSTERS).get({ name: 'edge-1' });
    const subjects = [
      { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: agentKeyGroup(spec.publicKeyHash ?? '') },
    ];
    const namespace = clusterNamespace('edge-1');
    const inside = await admin.resource(ROLE_BINDINGS).get({ namespace, name: 'asterism:agent' });
    const outside = await admin.resource(CLUSTER_ROLE_BINDINGS).get({ name: 'asterism:agent:edge-1' });
    assert.deepEqual([inside.subjects, outside.subjects], [subjects, subjects]);
    const namesake = await fleet.person('asterism:agent:edge-1', 'asterism:agents');
    assert.deepEqual(new Set(await statuses(namesake, 'edge-1')), new Set([403]), 'the name alone opens nothing');
    assert.ok(!(await statuses(await fleet.agentOf(member), 'edge-1')).includes(403));
  });

  test('a Cluster that is deleted: within a second its tunnel is cut and its requests are refused', async () => {
    const { agent, holder } = await joined('edge-2');
    const cut = await longCall('edge-2');
    await admin.resource(CLUSTERS).delete({ name: 'edge-2' });
    const [tunnelMs, requestsMs] = await Promise.all([cut(), shut(holder, 'edge-2')]);
    assert.ok(tunnelMs < 1_000 && requestsMs < 1_000, `${tunnelMs} ms, ${requestsMs} ms`);
    await assert.rejects(agent.done, /has the cluster left/);
  });

  test('a key that is replaced: the old one is out within a second, and back with it', async () => {
    const { holder } = await joined('edge-3');
    const cut = await longCall('edge-3');
    const clusters = admin.resource(CLUSTERS);
    const { spec } = await clusters.get({ name: 'edge-3' });
    const bind = (publicKeyHash: string | null | undefined) =>
      clusters.patch({ name: 'edge-3' }, { type: 'merge', body: { spec: { publicKeyHash } } });
    await bind(OTHER_KEY);
    const [tunnelMs, requestsMs] = await Promise.all([cut(), shut(holder, 'edge-3')]);
    assert.ok(tunnelMs < 1_000 && requestsMs < 1_000, `${tunnelMs} ms, ${requestsMs} ms`);
    await bind(spec.publicKeyHash);
    await untilObject(admin, CLUSTER_ROLE_BINDINGS, { name: 'asterism:agent:edge-3' }, (each) =>
      (each?.subjects ?? []).some(({ name }) => name === agentKeyGroup(spec.publicKeyHash ?? '')),
    );
    await fleet.reached('edge-3');
  });

  test('a key that is taken away without another: nobody is the agent', async () => {
    const { holder } = await joined('edge-4');
    await admin
      .resource(CLUSTERS)
      .patch({ name: 'edge-4' }, { type: 'merge', body: { spec: { publicKeyHash: null } } });
    assert.ok((await shut(holder, 'edge-4')) < 1_000);
    const answer = await admin.request({ method: 'GET', path: `${memberProxyPath('edge-4')}/version` });
    await readBody(answer.body, 'the proxy');
    assert.equal(answer.status, 503);
  });

  test('a name that is given again gives the old certificate nothing', async () => {
    const { agent, holder } = await joined('edge-5');
    await agent.stop();
    await admin.resource(CLUSTERS).delete({ name: 'edge-5' });
    await untilObject(admin, NAMESPACES, { name: clusterNamespace('edge-5') }, (each) => each === undefined);
    const second = await joined('edge-5');
    assert.deepEqual(new Set(await statuses(holder, 'edge-5')), new Set([403]));
    assert.ok(!(await statuses(second.holder, 'edge-5')).includes(403));
    await fleet.reached('edge-5');
  });

  test('a copy of a cluster’s Secret joins nothing beside it', async () => {
    const { member } = await joined('edge-6');
    const ref = { namespace: 'asterism-system', name: 'agent-credential' };
    const { data = {} } = await member.client.resource(SECRETS).get(ref);
    const copy = await fleet.startMember();
    const { 'tls.key': key = '' } = data;
    await copy.client.resource(SECRETS).create({ metadata: ref, type: 'Opaque', data: { 'tls.key': key } });
    const agent = fleet.join(copy, { clusterName: 'edge-7', token });
    await assert.rejects(agent.done, /cluster "edge-6" has this key already/);
  });
});
