import assert from 'node:assert/strict';
import { type Client, readBody } from '@asterism/client';

/** What an agent's credential is tried on at the hub, over the network: `edge-1` is its own cluster, `edge-2` another. */
export interface Door {
  name: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const CORE = '/api/v1';
const OWN = `${CORE}/namespaces/asterism-cluster-edge-1`;
const OTHER = `${CORE}/namespaces/asterism-cluster-edge-2`;
const API = '/apis/asterism.dev/v1alpha1';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const PROXY = '/apis/proxy.asterism.dev/v1alpha1/clusters';
const SEARCH = '/apis/search.asterism.dev/v1alpha1/resources';
const patch = { metadata: { labels: { a: 'b' } } };
const ref = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const as = (user: string, ...groups: string[]): Record<string, string> => ({
  'impersonate-user': user,
  ...(groups.length > 0 ? { 'impersonate-group': groups.join(',') } : {}),
});

export const OPEN: Door[] = [
  { name: 'its Cluster', path: `${API}/clusters/edge-1` },
  { name: 'its Works', path: `${API}/namespaces/asterism-cluster-edge-1/works` },
  { name: 'its Lease', path: `${LEASES}/asterism-cluster-edge-1/leases/agent` },
];

export const SHUT: Record<string, Door[]> = {
  'other clusters’ namespaces': [
    { name: 'Works', path: `${API}/namespaces/asterism-cluster-edge-2/works` },
    { name: 'everybody’s Works', path: `${API}/works` },
    {
      name: 'a Work’s status',
      method: 'PATCH',
      path: `${API}/namespaces/asterism-cluster-edge-2/works/w/status`,
      body: {},
    },
    { name: 'ConfigMaps', path: `${OTHER}/configmaps` },
    { name: 'the namespace', path: OTHER },
    { name: 'all namespaces', path: `${CORE}/namespaces` },
    { name: 'Events', method: 'POST', path: `${OTHER}/events`, body: { metadata: { name: 'e' } } },
  ],
  Secrets: [
    { name: 'of its namespace', path: `${OWN}/secrets` },
    { name: 'of its making', method: 'POST', path: `${OWN}/secrets`, body: { metadata: { name: 's' } } },
    { name: 'of another cluster', path: `${OTHER}/secrets` },
    { name: 'the hub’s credential', path: `${OTHER}/secrets/hub-credential` },
    { name: 'that, replaced', method: 'PATCH', path: `${OTHER}/secrets/hub-credential`, body: patch },
    { name: 'bootstrap tokens', path: `${CORE}/namespaces/kube-system/secrets` },
    { name: 'all', path: `${CORE}/secrets` },
    { name: 'all, watched', path: `${CORE}/secrets?watch=true` },
    {
      name: 'a token of a service account',
      method: 'POST',
      path: `${CORE}/namespaces/kube-system/serviceaccounts/default/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    },
  ],
  Leases: [
    { name: 'of another cluster', path: `${LEASES}/asterism-cluster-edge-2/leases/agent` },
    {
      name: 'of another, renewed',
      method: 'PATCH',
      path: `${LEASES}/asterism-cluster-edge-2/leases/agent`,
      body: patch,
    },
    {
      name: 'of its making',
      method: 'POST',
      path: `${LEASES}/asterism-cluster-edge-1/leases`,
      body: { metadata: { name: 'l' } },
    },
    { name: 'the hub’s', method: 'PATCH', path: `${LEASES}/asterism-system/leases/asterism-hub`, body: patch },
    { name: 'its own, deleted', method: 'DELETE', path: `${LEASES}/asterism-cluster-edge-1/leases/agent` },
  ],
  registrations: [
    { name: 'all', path: `${API}/clusterregistrations` },
    { name: 'one', path: `${API}/clusterregistrations/any` },
    { name: 'of its making', method: 'POST', path: `${API}/clusterregistrations`, body: { metadata: { name: 'x' } } },
    { name: 'an approval', method: 'PATCH', path: `${API}/clusterregistrations/x/status`, body: {} },
    { name: 'certificate requests', path: CSRS },
    { name: 'the approval of one', method: 'PUT', path: `${CSRS}/x/approval`, body: {} },
    { name: 'the signing of one', method: 'PUT', path: `${CSRS}/x/status`, body: {} },
    { name: 'approval rules', path: `${API}/hubconfigurations/hub` },
    { name: 'a rule of its making', method: 'PATCH', path: `${API}/hubconfigurations/hub`, body: { spec: {} } },
  ],
  tunnels: [
    { name: 'another cluster’s', method: 'POST', path: `${PROXY}/edge-2/attach` },
    { name: 'of a cluster that is not there', method: 'POST', path: `${PROXY}/edge-99/attach` },
    { name: 'another member’s API', path: `${PROXY}/edge-2/proxy/api` },
    { name: 'its own by the way of the hub', path: `${PROXY}/edge-1/proxy/api` },
    { name: 'search', path: `${SEARCH}/api/v1/secrets` },
  ],
  'Clusters and the hub’s own API': [
    { name: 'all Clusters', path: `${API}/clusters` },
    { name: 'another Cluster', path: `${API}/clusters/edge-2` },
    { name: 'another’s status', method: 'PATCH', path: `${API}/clusters/edge-2/status`, body: {} },
    { name: 'its own labels', method: 'PATCH', path: `${API}/clusters/edge-1`, body: patch },
    { name: 'its own taints', method: 'PATCH', path: `${API}/clusters/edge-1`, body: { spec: { taints: [] } } },
    { name: 'its own key', method: 'PATCH', path: `${API}/clusters/edge-1`, body: { spec: { publicKeyHash: null } } },
    { name: 'its own end', method: 'DELETE', path: `${API}/clusters/edge-1` },
    { name: 'a new Cluster', method: 'POST', path: `${API}/clusters`, body: { metadata: { name: 'x' } } },
    { name: 'policies', path: `${API}/propagationpolicies` },
    { name: 'bindings', path: `${API}/resourcebindings` },
    { name: 'pods', path: `${CORE}/pods` },
    { name: 'nodes', path: `${CORE}/nodes` },
    { name: 'kinds', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' },
    { name: 'routes', path: '/apis/apiregistration.k8s.io/v1/apiservices' },
    { name: 'metrics', path: '/metrics' },
    {
      name: 'its Role',
      method: 'PATCH',
      path: `${RBAC}/namespaces/asterism-cluster-edge-1/roles/asterism:agent`,
      body: patch,
    },
    { name: 'its binding', method: 'PATCH', path: `${RBAC}/clusterrolebindings/asterism:agent:edge-1`, body: patch },
    {
      name: 'an administrator’s binding',
      method: 'POST',
      path: `${RBAC}/clusterrolebindings`,
      body: {
        metadata: { name: 'x' },
        roleRef: ref('ClusterRole', 'cluster-admin'),
        subjects: [ref('User', 'asterism:agent:edge-1')],
      },
    },
  ],
  impersonation: [
    { name: 'of an administrator', path: `${API}/clusters`, headers: as('admin') },
    { name: 'of his group', path: `${API}/clusters`, headers: as('asterism:agent:edge-1', 'system:masters') },
    { name: 'of another agent', path: `${API}/clusters/edge-2`, headers: as('asterism:agent:edge-2') },
    { name: 'of another key', path: `${API}/clusters/edge-2`, headers: as('x', 'asterism:agent-key:AAAA') },
    {
      name: 'of a service account',
      path: `${API}/clusters`,
      headers: as('system:serviceaccount:asterism-system:asterism-hub-host'),
    },
    { name: 'of nobody', path: `${API}/clusters`, headers: as('system:anonymous') },
  ],
};

/** The status with which a door answers. */
export async function knock(client: Client, { method = 'GET', path, body, headers = {} }: Door): Promise<number> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const answer = await client.request({
    method,
    path,
    headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status === 200 && path.includes('watch=true')) answer.body.destroy();
  else await readBody(answer.body, path);
  return answer.status;
}

/** Fails where one of them is not as said, with the names of all that are not. */
export async function assertDoors(client: Client, doors: readonly Door[], expected: number): Promise<void> {
  const wrong: string[] = [];
  for (const door of doors) {
    const status = await knock(client, door);
    if (status !== expected) wrong.push(`${door.name}: ${status}`);
  }
  assert.deepEqual(wrong, []);
}
