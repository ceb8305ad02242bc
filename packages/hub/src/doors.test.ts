import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '@asterism/apiserver/testing';
import { createSigningRequest, issueCertificate } from '@asterism/apiserver';
import { type Client, readBody } from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import { CERTIFICATE_SIGNING_REQUESTS } from '@asterism/machinery';
import { call, TestFleet } from './testing/test-fleet.ts';

/** What the least privilege of agents and tokens means: every door that is not theirs is tried, over the network. */

const OWN = '/api/v1/namespaces/asterism-cluster-edge-1';
const OTHER = '/api/v1/namespaces/asterism-cluster-edge-2';
const API = '/apis/asterism.dev/v1alpha1';
const OWN_API = `${API}/namespaces/asterism-cluster-edge-1`;
const OTHER_API = `${API}/namespaces/asterism-cluster-edge-2`;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/asterism-cluster';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const PROXY = '/apis/proxy.asterism.dev/v1alpha1/clusters';

interface Door {
  name: string;
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Default 403. */
  status?: number;
}

const work = { apiVersion: 'asterism.dev/v1alpha1', kind: 'Work', metadata: { name: 'w' }, spec: { manifests: [] } };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} };
const patch = { metadata: { labels: { a: 'b' } } };

const AGENT_OPEN: Door[] = [
  { name: 'its Cluster', path: `${API}/clusters/edge-1`, status: 200 },
  { name: 'its Cluster, watched', path: `${API}/clusters?fieldSelector=metadata.name%3Dedge-1`, status: 200 },
  { name: 'its Works', path: `${OWN_API}/works`, status: 200 },
  { name: 'its Lease', path: `${LEASES}-edge-1/leases/agent`, status: 200 },
  { name: 'its status', method: 'PATCH', path: `${API}/clusters/edge-1/status`, body: {}, status: 200 },
];

const AGENT_SHUT: Door[] = [
  { name: 'all Clusters', path: `${API}/clusters` },
  { name: 'another Cluster', path: `${API}/clusters/edge-2` },
  { name: 'another Cluster’s status', method: 'PATCH', path: `${API}/clusters/edge-2/status`, body: {} },
  { name: 'its own labels and taints', method: 'PATCH', path: `${API}/clusters/edge-1`, body: patch },
  { name: 'its own end', method: 'DELETE', path: `${API}/clusters/edge-1` },
  { name: 'a new Cluster', method: 'POST', path: `${API}/clusters`, body: { metadata: { name: 'x' } } },
  { name: 'another cluster’s Works', path: `${OTHER_API}/works` },
  { name: 'everybody’s Works', path: `${API}/works` },
  { name: 'a Work of its own making', method: 'POST', path: `${OWN_API}/works`, body: work },
  { name: 'what a Work says', method: 'PATCH', path: `${OWN_API}/works/w`, body: patch },
  { name: 'a Work’s end', method: 'DELETE', path: `${OWN_API}/works/w` },
  { name: 'another cluster’s Work status', method: 'PATCH', path: `${OTHER_API}/works/w/status`, body: {} },
  { name: 'Secrets of its namespace', path: `${OWN}/secrets` },
  { name: 'a Secret of its making', method: 'POST', path: `${OWN}/secrets`, body: secret },
  { name: 'another cluster’s Secrets', path: `${OTHER}/secrets` },
  { name: 'the hub’s credential for another cluster', path: `${OTHER}/secrets/hub-credential` },
  { name: 'that credential, replaced', method: 'PATCH', path: `${OTHER}/secrets/hub-credential`, body: patch },
  { name: 'bootstrap tokens', path: '/api/v1/namespaces/kube-system/secrets' },
  { name: 'all Secrets', path: '/api/v1/secrets' },
  { name: 'ConfigMaps of its namespace', path: `${OWN}/configmaps` },
  { name: 'another cluster’s Lease', method: 'PATCH', path: `${LEASES}-edge-2/leases/agent`, body: patch },
  { name: 'a Lease of its making', method: 'POST', path: `${LEASES}-edge-1/leases`, body: lease },
  { name: 'its Lease’s end', method: 'DELETE', path: `${LEASES}-edge-1/leases/agent` },
  { name: 'registrations', path: `${API}/clusterregistrations` },
  { name: 'a registration', method: 'POST', path: `${API}/clusterregistrations`, body: {} },
  { name: 'an approval', method: 'PATCH', path: `${API}/clusterregistrations/x/status`, body: {} },
  { name: 'certificate requests', path: CSRS },
  { name: 'approval rules', path: `${API}/hubconfigurations/hub` },
  { name: 'a rule of its making', method: 'POST', path: `${API}/hubconfigurations`, body: {} },
  { name: 'another cluster’s tunnel', method: 'POST', path: `${PROXY}/edge-2/attach` },
  { name: 'another cluster’s tunnel by WebSocket', path: `${PROXY}/edge-2/attach` },
  { name: 'another cluster’s API', path: `${PROXY}/edge-2/proxy/api` },
  { name: 'its own API by the way of the hub', path: `${PROXY}/edge-1/proxy/api` },
  { name: 'policies', path: `${API}/propagationpolicies` },
  { name: 'bindings', path: `${API}/resourcebindings` },
  { name: 'namespaces', path: '/api/v1/namespaces' },
  { name: 'nodes', path: '/api/v1/nodes' },
  {
    name: 'its own Role',
    method: 'PATCH',
    path: `${RBAC}/namespaces/asterism-cluster-edge-1/roles/asterism:agent`,
    body: patch,
  },
  { name: 'a binding to an administrator', method: 'POST', path: `${RBAC}/clusterrolebindings`, body: {} },
  { name: 'an administrator’s name', path: `${API}/clusters`, headers: { 'impersonate-user': 'admin' } },
  {
    name: 'an administrator’s group',
    path: `${API}/clusters`,
    headers: { 'impersonate-user': 'asterism:agent:edge-1', 'impersonate-group': 'asterism:admins' },
  },
  {
    name: 'another agent’s name',
    path: `${API}/clusters/edge-2`,
    headers: { 'impersonate-user': 'asterism:agent:edge-2' },
  },
];

const TOKEN_SHUT: Door[] = [
  { name: 'Clusters', path: `${API}/clusters` },
  { name: 'a Cluster', path: `${API}/clusters/edge-1` },
  { name: 'the registrations of others', path: `${API}/clusterregistrations` },
  { name: 'its own approval', method: 'PATCH', path: `${API}/clusterregistrations/x/status`, body: {} },
  { name: 'a change of a registration', method: 'PATCH', path: `${API}/clusterregistrations/x`, body: patch },
  { name: 'the certificate requests of others', path: CSRS },
  { name: 'the approval of its certificate', method: 'PATCH', path: `${CSRS}/x/approval`, body: {} },
  { name: 'a certificate in the place of the signer', method: 'PATCH', path: `${CSRS}/x/status`, body: {} },
  { name: 'Secrets', path: '/api/v1/namespaces/kube-system/secrets' },
  { name: 'approval rules', path: `${API}/hubconfigurations/hub` },
  { name: 'a cluster’s namespace', path: `${OWN_API}/works` },
  { name: 'a tunnel', method: 'POST', path: `${PROXY}/edge-1/attach` },
  { name: 'a member', path: `${PROXY}/edge-1/proxy/api` },
  { name: 'an administrator’s name', path: `${API}/clusters`, headers: { 'impersonate-user': 'admin' } },
];

const ANONYMOUS_SHUT: Door[] = [
  { name: 'Clusters', path: `${API}/clusters` },
  { name: 'a registration', method: 'POST', path: `${API}/clusterregistrations`, body: {} },
  { name: 'a certificate request', method: 'POST', path: CSRS, body: {} },
  { name: 'a tunnel', method: 'POST', path: `${PROXY}/edge-1/attach` },
  { name: 'a member', path: `${PROXY}/edge-1/proxy/api` },
];

describe('doors', () => {
  let fleet: TestFleet;
  let member: TestServer;
  let agent: Client;
  let token: Client;
  let anonymous: Client;

  before(async () => {
    fleet = await TestFleet.start();
    const bootstrap = await fleet.hub.createBootstrapToken({ autoApprove: true });
    member = await fleet.startMember();
    const other = await fleet.startMember('Push');
    await Promise.all([
      fleet.join(member, { token: bootstrap.token }).ready,
      fleet.join(other, {
        clusterName: 'edge-2',
        syncMode: 'Push',
        token: bootstrap.token,
        endpoint: { server: other.url },
      }).ready,
    ]);
    agent = await fleet.agentOf(member);
    const { url: server, ca: caData } = fleet.hub;
    token = fleet.client({ server, caData, credential: { kind: 'token', token: bootstrap.token } });
    anonymous = fleet.client({ server, caData, credential: { kind: 'none' } });
  });

  after(() => fleet[Symbol.asyncDispose]());

  const rows: [who: string, client: () => Client, doors: Door[]][] = [
    ['an agent gets', () => agent, AGENT_OPEN],
    ['an agent does not get', () => agent, AGENT_SHUT],
    ['a bootstrap token does not get', () => token, TOKEN_SHUT],
    ['nobody gets', () => anonymous, ANONYMOUS_SHUT],
  ];
  for (const [who, client, doors] of rows) {
    for (const { name, method = 'GET', path, status = 403, ...rest } of doors) {
      test(`${who} ${name}`, async () => {
        const answer = await call(client(), method, path, rest);
        assert.equal(answer.status, status, answer.body);
      });
    }
  }

  test('an agent’s status write changes neither labels nor spec', async () => {
    const before = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
    const body = { metadata: { labels: { a: 'b' } }, spec: { region: 'south', taints: [] } };
    assert.equal((await call(agent, 'PATCH', `${API}/clusters/edge-1/status`, { body })).status, 200);
    const after_ = await fleet.hub.client.resource(CLUSTERS).get({ name: 'edge-1' });
    assert.deepEqual([after_.metadata.labels, after_.spec], [before.metadata.labels, before.spec]);
  });

  test('a tunnel is its agent’s alone: neither an administrator nor another agent opens it', async () => {
    const websocket = {
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'asterism-tunnel',
    };
    const upgrade = async (client: Client, cluster: string, headers: Record<string, string> = {}): Promise<number> => {
      const answer = await client.transport.upgrade({
        method: headers['upgrade'] === 'websocket' ? 'GET' : 'POST',
        path: `${PROXY}/${cluster}/attach`,
        headers: {
          connection: 'Upgrade',
          upgrade: 'asterism-tunnel',
          'tunnel-version': '2',
          'tunnel-kind': 'short',
          'tunnel-instance': 'test',
          'tunnel-slot': '9',
          ...headers,
        },
      });
      if ('socket' in answer) answer.socket.destroy();
      else await readBody(answer.body, cluster);
      return answer.status;
    };
    assert.equal(await upgrade(agent, 'edge-1'), 101, 'its own opens');
    assert.equal(await upgrade(agent, 'edge-2'), 403);
    assert.equal(await upgrade(fleet.client(fleet.hub.adminConnection), 'edge-1'), 403);
    assert.equal(await upgrade(token, 'edge-1'), 403);
    assert.equal(await upgrade(agent, 'edge-1', websocket), 101, 'by WebSocket too');
    assert.equal(await upgrade(agent, 'edge-2', websocket), 403);
    assert.equal(await upgrade(fleet.client(fleet.hub.adminConnection), 'edge-1', websocket), 403);
    assert.equal(await upgrade(token, 'edge-1', websocket), 403);
    assert.equal(await upgrade(agent, 'edge-1', { upgrade: 'websocket' }), 400, 'a WebSocket without a handshake');
    assert.equal(await upgrade(agent, 'edge-1', { ...websocket, 'sec-websocket-protocol': 'chat' }), 400);
    assert.equal(await upgrade(agent, 'edge-1', { upgrade: 'h2c' }), 400);
    assert.equal(await upgrade(agent, 'edge-1', { 'tunnel-kind': 'other' }), 400);
  });

  test('an agent that watches its Cluster by name sees no other Cluster', async () => {
    const path = `${API}/watch/clusters/edge-1?timeoutSeconds=1`;
    const { status, body } = await call(agent, 'GET', path);
    assert.equal(status, 200);
    assert.match(body, /"name":"edge-1"/);
    assert.doesNotMatch(body, /"name":"edge-2"/);
    assert.equal((await call(agent, 'GET', `${API}/watch/clusters/edge-2?timeoutSeconds=1`)).status, 403);
  });

  test('no signing request asks for a certificate of administrators', async () => {
    const admin = fleet.client(fleet.hub.adminConnection);
    const { csr } = await createSigningRequest({ commonName: 'eve', organizations: ['asterism:admins'] });
    const spec = {
      request: Buffer.from(csr).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth' as const],
    };
    await assert.rejects(admin.resource(CERTIFICATE_SIGNING_REQUESTS).create({ metadata: { name: 'eve' }, spec }), {
      code: 403,
      message: /with asterism:admins group is not allowed/,
    });
  });

  test('not even an administrator makes bindings and Works', async () => {
    const admin = fleet.client(fleet.hub.adminConnection);
    const { apiVersion } = work;
    const metadata = { name: 'mine' };
    const clusters = [{ name: 'edge-1' }];
    const resource = { apiVersion: 'v1', kind: 'Secret', name: 'key', uid: 'u' };
    const here = { ...resource, namespace: 'default' };
    const rows: [path: string, body: object][] = [
      [
        `${API}/namespaces/default/resourcebindings`,
        { apiVersion, kind: 'ResourceBinding', metadata, spec: { resource: here, clusters } },
      ],
      [
        `${API}/clusterresourcebindings`,
        { apiVersion, kind: 'ClusterResourceBinding', metadata, spec: { resource, clusters } },
      ],
      [`${OWN_API}/works`, work],
    ];
    for (const [path, body] of rows) {
      const answer = await call(admin, 'POST', path, { body });
      assert.equal(answer.status, 403, path);
      assert.match(answer.body, /only the hub writes (resourcebindings|clusterresourcebindings|works)/);
    }
  });

  test('an administrator by another authority’s certificate is nobody', async () => {
    const subject = { commonName: 'admin', organizations: ['asterism:admins'], usages: ['client' as const], days: 1 };
    const { cert, key } = await issueCertificate(member.ca, subject);
    const { url: server, ca: caData } = fleet.hub;
    const forged = fleet.client({ server, caData, credential: { kind: 'certificate', cert, key } });
    assert.equal((await call(forged, 'GET', `${API}/clusters`)).status, 401);
  });
});
