import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  type CertificateSigningRequest,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  isConflict,
} from '@asterism/machinery';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { createSigningRequest } from './index.ts';

type Change = Partial<NonNullable<CertificateSigningRequest['spec']>>;

/** Creates a request, approves it, and waits for what becomes of it. */
async function sign(server: TestServer, csr: string, change: Change = {}): Promise<CertificateSigningRequest> {
  const requests = server.client.resource(CERTIFICATE_SIGNING_REQUESTS);
  const spec: CertificateSigningRequest['spec'] = {
    request: Buffer.from(csr).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    ...change,
  };
  const created = await requests.create({ metadata: { name: 'r' }, spec });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' }];
  const approved = { ...created, status: { conditions } } as CertificateSigningRequest;
  // An admin's request for a kubelet is approved by the server itself, which may be quicker.
  await requests.update(approved, { subresource: 'approval' }).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
  const signal = AbortSignal.timeout(5_000);
  for await (const event of requests.watch({ fieldSelector: 'metadata.name=r', signal })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const { certificate, conditions: found = [] } = event.object.status ?? {};
    if (certificate || found.some(({ type }) => type === 'Failed')) return event.object;
  }
  throw new Error('the watch ended');
}

function certificateOf(request: CertificateSigningRequest): string {
  return Buffer.from(request.status?.certificate ?? '', 'base64').toString();
}

test('an approved request becomes a certificate that opens the door', async () => {
  await using server = await startTestServer();
  const { csr, key } = await createSigningRequest({ commonName: 'carol', organizations: ['devs'] });
  const cert = certificateOf(await sign(server, csr, { expirationSeconds: 3600 }));
  const seconds = (new X509Certificate(cert).validToDate.getTime() - Date.now()) / 1000;
  assert.ok(seconds > 3500 && seconds <= 3600, String(seconds));
  await using transport = createTransport({ ...server.connection, credential: { kind: 'certificate', cert, key } });
  const list = createClient({ transport }).resource(CERTIFICATE_SIGNING_REQUESTS).list();
  await assert.rejects(list, { message: /^certificatesigningrequests.certificates.k8s.io is forbidden: User "carol"/ });
});

test('signers of other names are served where the options say so, and only then', async () => {
  await using server = await startTestServer({ signerNames: ['example.com/agents'] });
  const { csr } = await createSigningRequest({ commonName: 'agent-1' });
  const signed = await sign(server, csr, { signerName: 'example.com/agents' });
  assert.equal(new X509Certificate(certificateOf(signed)).subject, 'CN=agent-1');
});

const refused: [
  name: string,
  subject: { commonName: string; organizations?: string[] },
  change: Change,
  message: RegExp,
][] = [
  [
    'for servers',
    { commonName: 'a' },
    { usages: ['server auth'] },
    /^invalid usage for client certificate: server auth$/,
  ],
  [
    'for more than clients',
    { commonName: 'a' },
    { usages: ['client auth', 'cert sign'] },
    /^invalid usage for client certificate: cert sign$/,
  ],
  [
    'of system:masters',
    { commonName: 'a', organizations: ['system:masters'] },
    { signerName: 'example.com/agents' },
    /system:masters/,
  ],
  [
    'of a privileged group',
    { commonName: 'a', organizations: ['devs', 'admins'] },
    { signerName: 'example.com/agents' },
    /^the group admins cannot be had by a signing request$/,
  ],
  ['without a name', { commonName: '' }, {}, /no common name/],
];

for (const [name, subject, change, message] of refused) {
  test(`an approved request ${name} fails`, async () => {
    await using server = await startTestServer({ signerNames: ['example.com/agents'], privilegedGroups: ['admins'] });
    const { csr } = await createSigningRequest(subject);
    const { status } = await sign(server, csr, change);
    const failed = status?.conditions?.find(({ type }) => type === 'Failed');
    assert.match(failed?.message ?? '', message);
    assert.equal(status?.certificate, undefined);
  });
}

test('nobody asks for a certificate of system:masters, not even an administrator', async () => {
  await using server = await startTestServer({ controllers: false });
  const { csr } = await createSigningRequest({ commonName: 'a', organizations: ['devs', 'system:masters'] });
  await assert.rejects(sign(server, csr), {
    code: 403,
    reason: 'Forbidden',
    message:
      'certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  });
});

test('nobody approves for a signer without the right to it', async () => {
  await using server = await startTestServer();
  const { csr } = await createSigningRequest({ commonName: 'x' });
  const rules = [
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  ];
  await server.client.resource(CLUSTER_ROLES).create({ metadata: { name: 'approver' }, rules });
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'approver' };
  await server.client.resource(CLUSTER_ROLE_BINDINGS).create({ metadata: { name: 'approver' }, subjects, roleRef });
  const requests = server.clientAs({ username: 'alice', groups: [] }).resource(CERTIFICATE_SIGNING_REQUESTS);
  const spec: CertificateSigningRequest['spec'] = {
    request: Buffer.from(csr).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  };
  const created = await requests.create({ metadata: { name: 'own' }, spec });
  assert.equal(created.spec?.username, 'alice');
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Mine', message: '' }];
  await assert.rejects(
    requests.update({ ...created, status: { conditions } } as CertificateSigningRequest, { subresource: 'approval' }),
    {
      message:
        'certificatesigningrequests.certificates.k8s.io "own" is forbidden: user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
    },
  );
});

const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
type Usages = NonNullable<CertificateSigningRequest['spec']>['usages'] & object;
const CLIENT_USAGES: Usages = ['key encipherment', 'digital signature', 'client auth'];
const SERVING_USAGES: Usages = ['digital signature', 'server auth'];
const KUBELET = { commonName: 'system:node:n1', organizations: ['system:nodes'] };

test('kubelets get client certificates, and ones to serve with', async () => {
  await using server = await startTestServer();
  const client = await createSigningRequest(KUBELET);
  const forClients = new X509Certificate(
    certificateOf(await sign(server, client.csr, { signerName: KUBELET_CLIENT, usages: CLIENT_USAGES })),
  );
  assert.deepEqual(forClients.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  await server.client.resource(CERTIFICATE_SIGNING_REQUESTS).delete({ name: 'r' });
  const serving = await createSigningRequest({ ...KUBELET, dnsNames: ['n1'], ipAddresses: ['192.0.2.7'] });
  const forServers = new X509Certificate(
    certificateOf(await sign(server, serving.csr, { signerName: KUBELET_SERVING, usages: SERVING_USAGES })),
  );
  assert.deepEqual(forServers.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(forServers.subjectAltName, 'DNS:n1, IP Address:192.0.2.7');
});

test('a certificate is good for a year at most', async () => {
  await using server = await startTestServer();
  const { csr } = await createSigningRequest({ commonName: 'carol' });
  const cert = certificateOf(await sign(server, csr, { expirationSeconds: 2_000_000_000 }));
  const days = (new X509Certificate(cert).validToDate.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 360 && days <= 365, String(days));
});

const refusedKubelets: [name: string, signerName: string, subject: object, usages: Usages, message: RegExp][] = [
  ['a client of another group', KUBELET_CLIENT, { organizations: ['devs'] }, CLIENT_USAGES, /organization is not/],
  [
    'a client of a further group',
    KUBELET_CLIENT,
    { organizations: ['system:nodes', 'system:masters'] },
    CLIENT_USAGES,
    /organization is not/,
  ],
  [
    'a client of another name',
    KUBELET_CLIENT,
    { commonName: 'admin' },
    CLIENT_USAGES,
    /does not begin with system:node:/,
  ],
  ['a client with a host name', KUBELET_CLIENT, { dnsNames: ['n1'] }, CLIENT_USAGES, /DNS subjectAltNames are not/],
  ['a client with an address', KUBELET_CLIENT, { ipAddresses: ['192.0.2.7'] }, CLIENT_USAGES, /IP subjectAltNames/],
  ['a client that serves', KUBELET_CLIENT, {}, [...CLIENT_USAGES, 'server auth'], /usages did not match/],
  ['a server without a name', KUBELET_SERVING, {}, SERVING_USAGES, /DNS or IP subjectAltName is required/],
  ['a server that is a client', KUBELET_SERVING, { dnsNames: ['n1'] }, CLIENT_USAGES, /usages did not match/],
  [
    'a server of another group',
    KUBELET_SERVING,
    { dnsNames: ['n1'], organizations: [] },
    SERVING_USAGES,
    /organization is not/,
  ],
];

for (const [name, signerName, subject, usages, message] of refusedKubelets) {
  test(`a kubelet's approved request fails: ${name}`, async () => {
    await using server = await startTestServer();
    const { csr } = await createSigningRequest({ ...KUBELET, ...subject });
    const { status } = await sign(server, csr, { signerName, usages });
    assert.match(status?.conditions?.find(({ type }) => type === 'Failed')?.message ?? '', message);
    assert.equal(status?.certificate, undefined);
  });
}
