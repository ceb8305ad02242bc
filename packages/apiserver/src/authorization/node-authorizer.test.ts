import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  type KubeObject,
  LEASES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type Pod,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { createSigningRequest } from '../pki/index.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

const NAMESPACE = 'default';
const AUDIENCE = 'https://kubernetes.default.svc';

function nodeClient(server: TestServer, name: string): Client {
  return server.clientAs({ username: `system:node:${name}`, groups: ['system:nodes'] });
}

async function makePod(server: TestServer, name: string, node: string, spec: Partial<Pod['spec']> = {}): Promise<Pod> {
  const full = { nodeName: node, containers: [{ name: 'c', image: 'i' }], ...spec } as NonNullable<Pod['spec']>;
  return await server.client.resource(PODS).create({ metadata: { name, namespace: NAMESPACE }, spec: full });
}

async function makeSecret(server: TestServer, name: string): Promise<void> {
  await server.client.resource(SECRETS).create({ metadata: { name, namespace: NAMESPACE }, stringData: { k: 'v' } });
}

const unrelated = { code: 403, message: /no relationship found between node 'n\d' and this object$/ };

test('a node reads the Secrets of its pods while they are there, and no others', async () => {
  await using server = await startTestServer();
  const [one, two] = [nodeClient(server, 'n1'), nodeClient(server, 'n2')];
  for (const name of ['volume', 'env', 'pull', 'alone']) await makeSecret(server, name);
  await makePod(server, 'p1', 'n1', {
    imagePullSecrets: [{ name: 'pull' }],
    volumes: [{ name: 'v', secret: { secretName: 'volume' } }],
    containers: [
      { name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'env', key: 'k' } } }] },
    ],
  });
  for (const name of ['volume', 'env', 'pull']) {
    assert.equal((await one.resource(SECRETS).get({ namespace: NAMESPACE, name })).metadata?.name, name);
    await assert.rejects(two.resource(SECRETS).get({ namespace: NAMESPACE, name }), unrelated);
  }
  await assert.rejects(one.resource(SECRETS).get({ namespace: NAMESPACE, name: 'alone' }), unrelated);
  await assert.rejects(one.resource(SECRETS).list({ namespace: NAMESPACE }), { code: 403, message: /No Object name/ });
  const list = await one.resource(SECRETS).list({ namespace: NAMESPACE, fieldSelector: 'metadata.name=env' });
  assert.equal(list.items.length, 1);
  await assert.rejects(one.resource(SECRETS).delete({ namespace: NAMESPACE, name: 'env' }), {
    message: /can only read resources of this type/,
  });
  await server.client.resource(PODS).delete({ namespace: NAMESPACE, name: 'p1' }, { gracePeriodSeconds: 0 });
  await assert.rejects(one.resource(SECRETS).get({ namespace: NAMESPACE, name: 'env' }), unrelated);
});

test('a node follows a claim of its pod to the volume and the Secret that mounts it', async () => {
  await using server = await startTestServer();
  const [one, two] = [nodeClient(server, 'n1'), nodeClient(server, 'n2')];
  const resources = { requests: { storage: '1Gi' } };
  await makeSecret(server, 'stage');
  await server.client.resource(PERSISTENT_VOLUME_CLAIMS).create({
    metadata: { name: 'claim', namespace: NAMESPACE },
    spec: { accessModes: ['ReadWriteOnce'], resources, volumeName: 'pv' },
  });
  await server.client.resource(PERSISTENT_VOLUMES).create({
    metadata: { name: 'pv' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      claimRef: { namespace: NAMESPACE, name: 'claim' },
      csi: { driver: 'd.example.com', volumeHandle: 'h', nodeStageSecretRef: { namespace: NAMESPACE, name: 'stage' } },
    },
  });
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'claim' } }];
  await makePod(server, 'p1', 'n1', { volumes });
  const read = async (client: Client): Promise<void> => {
    await client.resource(PERSISTENT_VOLUME_CLAIMS).get({ namespace: NAMESPACE, name: 'claim' });
    await client.resource(PERSISTENT_VOLUMES).get({ name: 'pv' });
    await client.resource(SECRETS).get({ namespace: NAMESPACE, name: 'stage' });
  };
  await read(one);
  await assert.rejects(two.resource(PERSISTENT_VOLUME_CLAIMS).get({ namespace: NAMESPACE, name: 'claim' }), unrelated);
  await assert.rejects(two.resource(PERSISTENT_VOLUMES).get({ name: 'pv' }), unrelated);
  await assert.rejects(two.resource(SECRETS).get({ namespace: NAMESPACE, name: 'stage' }), unrelated);
});

test('a node lists its own pods and reads its own Node and Lease', async () => {
  await using server = await startTestServer();
  const one = nodeClient(server, 'n1');
  await makePod(server, 'p1', 'n1');
  await makePod(server, 'p2', 'n2');
  const mine = await one.resource(PODS).list({ fieldSelector: 'spec.nodeName=n1' });
  assert.deepEqual(
    mine.items.map(({ metadata }) => metadata?.name),
    ['p1'],
  );
  for (const fieldSelector of ['spec.nodeName=n2', 'spec.nodeName!=n1', 'metadata.name!=a\\,spec.nodeName=n1']) {
    await assert.rejects(one.resource(PODS).list({ fieldSelector }), {
      code: 403,
      message: /can only list\/watch pods with spec.nodeName field selector$/,
    });
  }
  await assert.rejects(one.resource(PODS).get({ namespace: NAMESPACE, name: 'p2' }), unrelated);
  await one.resource(NODES).create({ metadata: { name: 'n1' } });
  await one.resource(NODES).get({ name: 'n1' });
  await assert.rejects(one.resource(NODES).get({ name: 'n2' }), {
    message: /cannot read 'n2', only its own Node object$/,
  });
  await assert.rejects(one.resource(NODES).list(), { message: /cannot read all nodes, only its own Node object$/ });
  const lease = (name: string, namespace: string): Promise<unknown> =>
    one.resource(LEASES).create({ metadata: { name, namespace }, spec: { holderIdentity: 'n1' } });
  await lease('n1', 'kube-node-lease');
  await assert.rejects(lease('n2', 'kube-node-lease'), { message: /same name as the requesting node$/ });
  await assert.rejects(lease('n1', NAMESPACE), { message: /can only access leases in the "kube-node-lease"/ });
});

test('only the name and the group together make a node', async () => {
  await using server = await startTestServer();
  await makeSecret(server, 's');
  await makePod(server, 'p', 'n1', { volumes: [{ name: 'v', secret: { secretName: 's' } }] });
  for (const user of [
    { username: 'system:node:n1', groups: [] },
    { username: 'n1', groups: ['system:nodes'] },
    { username: 'system:node:', groups: ['system:nodes'] },
  ]) {
    await assert.rejects(server.clientAs(user).resource(SECRETS).get({ namespace: NAMESPACE, name: 's' }), {
      code: 403,
    });
  }
});

test('a node changes itself without what would draw work to it, and no other node', async () => {
  await using server = await startTestServer();
  const nodes = nodeClient(server, 'n1').resource(NODES);
  await assert.rejects(nodes.create({ metadata: { name: 'n2' } }), {
    message: /"n1" is not allowed to modify node "n2"$/,
  });
  const restricted = { 'node-restriction.kubernetes.io/team': 'a' };
  await assert.rejects(nodes.create({ metadata: { name: 'n1', labels: restricted } }), {
    message: /is not allowed to set the following labels: node-restriction.kubernetes.io\/team$/,
  });
  const labels = { 'kubernetes.io/hostname': 'n1', own: 'label', 'example.kubelet.kubernetes.io/x': 'y' };
  await nodes.create({ metadata: { name: 'n1', labels } });
  const refused: [patch: object, message: RegExp][] = [
    [{ metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } }, /is not allowed to modify labels/],
    [{ metadata: { labels: restricted } }, /is not allowed to modify labels/],
    [{ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, /is not allowed to modify taints$/],
    [
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: 'u' }] } },
      /is not allowed to modify ownerReferences$/,
    ],
  ];
  for (const [body, message] of refused) {
    await assert.rejects(nodes.patch({ name: 'n1' }, { type: 'merge', body }), { code: 403, message });
  }
  await nodes.patch({ name: 'n1' }, { type: 'merge', body: { metadata: { labels: { own: 'other' } } } });
  await server.client.resource(NODES).create({ metadata: { name: 'n2' } });
  const status = { type: 'merge' as const, body: { status: { phase: 'x' } } };
  await assert.rejects(nodes.patch({ name: 'n2' }, status, { subresource: 'status' }), { code: 403 });
});

test('a node makes mirror pods that refer to nothing, and deletes and reports of its own pods alone', async () => {
  // The plugin would refuse some of them before.
  await using server = await startTestServer({ admissionPlugins: { disable: ['ServiceAccount'] } });
  const one = nodeClient(server, 'n1');
  const node = await one.resource(NODES).create({ metadata: { name: 'n1' } });
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata?.uid ?? '', controller: true },
  ];
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  const metadata = { name: 'mirror', namespace: NAMESPACE, annotations, ownerReferences };
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  const volumes = [{ name: 'v', secret: { secretName: 's' } }];
  const refused: [pod: Pod, message: RegExp][] = [
    [{ metadata: { ...metadata, annotations: {} }, spec }, /can only create mirror pods$/],
    [{ metadata, spec: { ...spec, nodeName: 'n2' } }, /spec.nodeName set to itself$/],
    [{ metadata: { ...metadata, ownerReferences: [] }, spec }, /with an owner reference set to itself$/],
    [
      { metadata: { ...metadata, ownerReferences: [{ ...ownerReferences[0]!, uid: 'other' }] }, spec },
      /UID mismatch: expected other/,
    ],
    [{ metadata, spec: { ...spec, volumes } }, /can not create pods that reference secrets$/],
    [{ metadata, spec: { ...spec, serviceAccountName: 'a' } }, /can not create pods that reference a service account$/],
  ];
  for (const [pod, message] of refused) {
    await assert.rejects(one.resource(PODS).create(pod), { code: 403, message });
  }
  await one.resource(PODS).create({ metadata, spec });
  await makePod(server, 'other', 'n2');
  const report = { type: 'merge' as const, body: { status: { phase: 'Running' } } };
  const other = { namespace: NAMESPACE, name: 'other' };
  await assert.rejects(one.resource(PODS).patch(other, report, { subresource: 'status' }), { code: 403 });
  await assert.rejects(one.resource(PODS).delete(other), {
    message: /can only delete pods with spec.nodeName set to itself$/,
  });
  await one.resource(PODS).patch({ ...other, name: 'mirror' }, report, { subresource: 'status' });
  await one.resource(PODS).delete({ ...other, name: 'mirror' }, { gracePeriodSeconds: 0 });
});

test('a node gets tokens for its own pods, for the audiences that they name', async () => {
  await using server = await startTestServer();
  const one = nodeClient(server, 'n1');
  await server.client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 'bot', namespace: NAMESPACE } });
  const volume = (audience?: string) => ({
    name: `v${audience === undefined ? '' : 'a'}`,
    projected: { sources: [{ serviceAccountToken: { path: 't', ...(audience && { audience }) } }] },
  });
  const pod = await makePod(server, 'p1', 'n1', { serviceAccountName: 'bot', volumes: [volume(), volume('vault')] });
  const other = await makePod(server, 'p2', 'n2', { serviceAccountName: 'bot' });
  const ask = (ref: object | undefined, audiences: string[] = []): Promise<KubeObject> =>
    one.resource<KubeObject>({ ...SERVICE_ACCOUNTS }).create(
      {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { namespace: NAMESPACE },
        spec: { audiences, ...(ref && { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...ref } }) },
      } as KubeObject,
      { subresource: 'token', name: 'bot' },
    );
  const bound = { name: 'p1', uid: pod.metadata?.uid };
  assert.ok(await ask(bound));
  assert.ok(await ask(bound, ['vault']));
  await assert.rejects(ask(undefined), { message: /not bound to a pod$/ });
  await assert.rejects(ask({ name: 'p1' }), { message: /without a uid$/ });
  await assert.rejects(ask({ name: 'p1', uid: 'x' }), { message: /does not match the UID in record/ });
  await assert.rejects(ask({ name: 'p2', uid: other.metadata?.uid }), { message: /on a different node$/ });
  await assert.rejects(ask(bound, [AUDIENCE, 'vault']), { message: /0 or 1 audiences$/ });
  await assert.rejects(ask(bound, ['bank']), { message: /audience "bank" not found in pod spec volume$/ });
  await server.client.resource(PODS).delete({ namespace: NAMESPACE, name: 'p1' }, { gracePeriodSeconds: 0 });
  await assert.rejects(ask(bound), unrelated);
});

test('a node asks for certificates of its own name', async () => {
  await using server = await startTestServer({ controllers: false });
  const requests = nodeClient(server, 'n1').resource(CERTIFICATE_SIGNING_REQUESTS);
  const ask = async (commonName: string): Promise<unknown> => {
    const { csr } = await createSigningRequest({ commonName, organizations: ['system:nodes'] });
    return await requests.create({
      metadata: { generateName: 'csr-' },
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
  };
  await ask('system:node:n1');
  await assert.rejects(ask('system:node:n2'), { message: /can only create a node CSR with CN=system:node:n1$/ });
});

test('whoever is no node has the rights of his roles, and reads config maps by none', async () => {
  await using server = await startTestServer();
  const alice = server.clientAs({ username: 'alice', groups: ['devs'] });
  await assert.rejects(alice.resource(CONFIG_MAPS).list({ namespace: NAMESPACE }), {
    message: /^configmaps is forbidden: User "alice" cannot list resource "configmaps".*"default"$/,
  });
});
