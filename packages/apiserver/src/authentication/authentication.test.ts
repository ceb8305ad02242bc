import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import { CONFIG_MAPS, type KubeObject, NAMESPACES, NODES, PODS, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { createCertificateAuthority, issueCertificate, newPrivateKey } from '../pki/index.ts';
import { importSigningKeys, newSerialNumber } from '../pki/keys.ts';
import { loadX509 } from '../pki/x509.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { nobody, whoAmI, withToken } from './testing/who-am-i.ts';

const SELF_SUBJECT_REVIEWS = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};

describe('client certificates', () => {
  test('name a user and groups where they chain to the CA, and shut the door otherwise', async () => {
    await using server = await startTestServer();
    const options = { commonName: 'alice', organizations: ['devs', 'ops'], days: 1 };
    const good = await issueCertificate(server.ca, { ...options, usages: ['client'] });
    const forServers = await issueCertificate(server.ca, { ...options, usages: ['server'] });
    const foreign = await issueCertificate(await createCertificateAuthority({ commonName: 'test-ca' }), {
      ...options,
      usages: ['client'],
    });
    const expired = await issueCertificate(server.ca, {
      ...options,
      usages: ['client'],
      now: Date.now() - 2 * 86_400_000,
    });
    const as = (pair: { cert: string; key: string }) =>
      whoAmI({ ...server.connection, credential: { kind: 'certificate', ...pair } });
    assert.deepEqual(await as(good), ['alice', 'devs', 'ops', 'system:authenticated']);
    assert.equal(await as(forServers), 401);
    assert.equal(await as(foreign), 401);
    assert.equal(await as(expired), 401);
  });
});

const uids: [name: string, uids: string[], expect: unknown][] = [
  ['none', [], ['alice', undefined]],
  ['one', ['u-1'], ['alice', 'u-1']],
  ['two', ['u-1', 'u-2'], 401],
  ['an empty one', [''], 401],
];
for (const [name, values, expect] of uids) {
  test(`the uid in the subject of a client certificate: ${name}`, async () => {
    await using server = await startTestServer();
    const x509 = await loadX509();
    const key = newPrivateKey();
    const keys = importSigningKeys(key);
    const ca = importSigningKeys(server.ca.key);
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: newSerialNumber(),
      subject: [{ CN: ['first'] }, { CN: ['alice'] }, ...values.map((uid) => ({ '1.3.6.1.4.1.57683.2': [uid] }))],
      issuer: new x509.X509Certificate(server.ca.cert).subjectName.toJSON(),
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 86_400_000),
      publicKey: keys.publicKey,
      signingKey: ca.privateKey,
      signingAlgorithm: ca.algorithm,
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
    });
    const credential = { kind: 'certificate', cert: certificate.toString('pem'), key } as const;
    await using transport = createTransport({ ...server.connection, credential });
    const told = await createClient({ transport })
      .resource<KubeObject>(SELF_SUBJECT_REVIEWS)
      .create({})
      .then(
        ({ status }) => (status as { userInfo: { username: string; uid?: string } }).userInfo,
        (error: { code: number }) => error.code,
      );
    assert.deepEqual(typeof told === 'number' ? told : [told.username, told.uid], expect);
  });
}

test('the extra values of a user say by which credential he came', async () => {
  await using server = await startTestServer();
  const pair = await issueCertificate(server.ca, { commonName: 'alice', days: 1, usages: ['client'] });
  await using transport = createTransport({ ...server.connection, credential: { kind: 'certificate', ...pair } });
  const reviews = createClient({ transport }).resource<KubeObject>(SELF_SUBJECT_REVIEWS);
  const { status } = await reviews.create({});
  const fingerprint = new X509Certificate(pair.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  assert.deepEqual((status as { userInfo: { extra: unknown } }).userInfo.extra, {
    'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`],
  });
});

describe('tokens and nobody', () => {
  test('a static token names its user; any other is 401, even where nobody is welcome', async () => {
    const staticTokens = [{ token: 's3cret', username: 'bob', uid: 'u', groups: ['g'] }];
    await using server = await startTestServer({ staticTokens });
    assert.deepEqual(await whoAmI(withToken(server, 's3cret')), ['bob', 'g', 'system:authenticated']);
    assert.equal(await whoAmI(withToken(server, 's3cre')), 401);
    assert.equal(await whoAmI(nobody(server)), 403);
  });

  test('without anonymous access nobody is 401', async () => {
    await using server = await startTestServer({ anonymous: false });
    assert.equal(await whoAmI(nobody(server)), 401);
  });
});

describe('bootstrap tokens', () => {
  const good = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:agents',
  };
  const rows: [name: string, change: Record<string, string>, type: string, token: string, expect: unknown][] = [
    [
      'a good one',
      {},
      'bootstrap.kubernetes.io/token',
      'abcdef.0123456789abcdef',
      ['system:bootstrap:abcdef', 'system:bootstrappers', 'system:bootstrappers:agents', 'system:authenticated'],
    ],
    [
      'one that is in time',
      { expiration: '2999-01-01T00:00:00Z' },
      'bootstrap.kubernetes.io/token',
      'abcdef.0123456789abcdef',
      ['system:bootstrap:abcdef', 'system:bootstrappers', 'system:bootstrappers:agents', 'system:authenticated'],
    ],
    ['a wrong secret', {}, 'bootstrap.kubernetes.io/token', 'abcdef.0123456789abcdeg', 401],
    [
      'expired',
      { expiration: '2020-01-01T00:00:00Z' },
      'bootstrap.kubernetes.io/token',
      'abcdef.0123456789abcdef',
      401,
    ],
    ['a time that is none', { expiration: 'soon' }, 'bootstrap.kubernetes.io/token', 'abcdef.0123456789abcdef', 401],
    [
      'not for authentication',
      { 'usage-bootstrap-authentication': 'false' },
      'bootstrap.kubernetes.io/token',
      'abcdef.0123456789abcdef',
      401,
    ],
    ['another id within', { 'token-id': 'abcdeg' }, 'bootstrap.kubernetes.io/token', 'abcdef.0123456789abcdef', 401],
    [
      'a group that is too much',
      { 'auth-extra-groups': 'system:masters' },
      'bootstrap.kubernetes.io/token',
      'abcdef.0123456789abcdef',
      401,
    ],
    ['a Secret of another type', {}, 'Opaque', 'abcdef.0123456789abcdef', 401],
    ['no such token', {}, 'bootstrap.kubernetes.io/token', 'fedcba.0123456789abcdef', 401],
  ];
  for (const [name, change, type, token, expect] of rows) {
    test(name, async () => {
      await using server = await startTestServer();
      const metadata = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' };
      const stringData = { ...good, ...change };
      await server.client.resource(SECRETS).create({ metadata, type, stringData });
      assert.deepEqual(await whoAmI(withToken(server, token)), expect);
    });
  }
});

describe('service account tokens', () => {
  const issuer = 'https://issuer.test';

  async function requestToken(server: TestServer, spec: Record<string, unknown> = {}): Promise<string> {
    const request = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec } as KubeObject;
    const accounts = server.client.resource<KubeObject>({ ...SERVICE_ACCOUNTS });
    const answer = await accounts.create(
      { ...request, metadata: { namespace: 'default' } },
      { subresource: 'token', name: 'bot' },
    );
    return (answer.status as { token: string }).token;
  }

  async function withAccount(options: { key?: string; clock?: () => number } = {}): Promise<TestServer> {
    const { key = newPrivateKey(), clock } = options;
    const server = await startTestServer({ serviceAccounts: { issuer, key }, ...(clock ? { clock } : {}) });
    await server.client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 'bot', namespace: 'default' } });
    return server;
  }

  const bot = [
    'system:serviceaccount:default:bot',
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ];

  test('a token works until its account is gone, and not for the next of that name', async () => {
    await using server = await withAccount();
    const token = await requestToken(server);
    assert.deepEqual(await whoAmI(withToken(server, token)), bot);
    const accounts = server.client.resource(SERVICE_ACCOUNTS);
    await accounts.delete({ namespace: 'default', name: 'bot' });
    assert.equal(await whoAmI(withToken(server, token)), 401);
    await accounts.create({ metadata: { name: 'bot', namespace: 'default' } });
    assert.equal(await whoAmI(withToken(server, token)), 401);
  });

  test('a token ends at its time', async () => {
    let now = Date.now();
    await using server = await withAccount({ clock: () => now });
    const token = await requestToken(server, { expirationSeconds: 600 });
    assert.deepEqual(await whoAmI(withToken(server, token)), bot);
    now += 601_000;
    assert.equal(await whoAmI(withToken(server, token)), 401);
  });

  test('a token bound to a pod ends with the pod', async () => {
    await using server = await withAccount();
    const pods = server.client.resource(PODS);
    const spec = { serviceAccountName: 'bot', containers: [{ name: 'c', image: 'i' }] };
    await pods.create({ metadata: { name: 'p', namespace: 'default' }, spec });
    const token = await requestToken(server, { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
    assert.deepEqual(await whoAmI(withToken(server, token)), bot);
    await pods.delete({ namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
    assert.equal(await whoAmI(withToken(server, token)), 401);
  });

  test('a token for another audience, of another key or tampered with is no token', async () => {
    await using server = await withAccount();
    await using stranger = await withAccount();
    const token = await requestToken(server);
    const [head, payload, signature] = token.split('.') as [string, string, string];
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: 4_000_000_000 })).toString('base64url');
    const tokens = [
      await requestToken(server, { audiences: ['https://elsewhere'] }),
      await requestToken(stranger),
      `${head}.${forged}.${signature}`,
      `${unsigned}.${payload}.`,
      `${head}.${payload}`,
    ];
    for (const bad of tokens) assert.equal(await whoAmI(withToken(server, bad)), 401, bad);
  });

  test('a token bound to a node ends with it, and is none for the next node of that name', async () => {
    await using server = await withAccount();
    const nodes = server.client.resource(NODES);
    await nodes.create({ metadata: { name: 'n1' } });
    const token = await requestToken(server, { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' } });
    assert.deepEqual(await whoAmI(withToken(server, token)), bot);
    await nodes.delete({ name: 'n1' });
    assert.equal(await whoAmI(withToken(server, token)), 401);
    await nodes.create({ metadata: { name: 'n1' } });
    assert.equal(await whoAmI(withToken(server, token)), 401);
  });

  test('a token bound to a Secret is none for the next Secret of that name', async () => {
    await using server = await withAccount();
    const secrets = server.client.resource(SECRETS);
    const metadata = { name: 's', namespace: 'default' };
    await secrets.create({ metadata });
    const token = await requestToken(server, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } });
    assert.deepEqual(await whoAmI(withToken(server, token)), bot);
    await secrets.delete(metadata);
    await secrets.create({ metadata });
    assert.equal(await whoAmI(withToken(server, token)), 401);
  });

  test('a token of our key opens nothing before its time, by another algorithm, or without what it must say', async () => {
    const key = newPrivateKey();
    await using server = await withAccount({ key });
    const [, payload = ''] = (await requestToken(server)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const sign = (change: object): Promise<string> =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'ES256' }).sign(createPrivateKey(key));
    assert.deepEqual(await whoAmI(withToken(server, await sign({}))), bot);
    const soon = Math.floor(Date.now() / 1000) + 60;
    const secret = createPublicKey(key).export({ type: 'spki', format: 'pem' });
    const byPublicKey = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
    const tokens = [
      await sign({ nbf: soon }),
      await sign({ exp: soon - 120 }),
      await sign({ iss: 'https://elsewhere' }),
      await sign({ sub: 'system:serviceaccount:default:admin' }),
      await sign({ 'kubernetes.io': undefined }),
      await byPublicKey,
    ];
    for (const bad of tokens) assert.equal(await whoAmI(withToken(server, bad)), 401, bad);
  });

  test('whoever reviews a token is told which account is gone', async () => {
    await using server = await withAccount();
    const token = await requestToken(server);
    const type = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews', namespaced: false };
    const reviews = server.client.resource<KubeObject>({ ...type, kind: 'TokenReview' });
    const review = async (of: string): Promise<unknown> => (await reviews.create({ spec: { token: of } })).status;
    const elsewhere = await reviews.create({ spec: { token, audiences: ['a', 'b'] } });
    assert.deepEqual(elsewhere.status, {
      user: {},
      error: `[invalid bearer token, token audiences ["${issuer}"] is invalid for the target audiences ["a" "b"]]`,
    });
    await server.client.resource(SERVICE_ACCOUNTS).delete({ namespace: 'default', name: 'bot' });
    assert.deepEqual(await review(token), {
      user: {},
      error: '[invalid bearer token, serviceaccounts "bot" not found]',
    });
    assert.deepEqual(await review(`${token}x`), { user: {}, error: 'invalid bearer token' });
  });

  test('requests that cannot be granted say why', async () => {
    await using server = await withAccount();
    await assert.rejects(requestToken(server, { expirationSeconds: 60 }), {
      code: 422,
      message: /less than 10 minutes/,
    });
    const ref = { apiVersion: 'v1', name: 'x' };
    await assert.rejects(requestToken(server, { boundObjectRef: { ...ref, kind: 'ConfigMap' } }), {
      message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
    });
    await assert.rejects(requestToken(server, { boundObjectRef: { ...ref, kind: 'Pod' } }), {
      message: 'pods "x" not found',
    });
  });

  test('others can check tokens by the published key', async () => {
    await using server = await withAccount();
    const keys = (await server.client.getJson('/openid/v1/jwks')) as { keys: { alg: string; d?: string }[] };
    assert.deepEqual(
      keys.keys.map(({ alg, d }) => [alg, d]),
      [['ES256', undefined]],
    );
    const configuration = await server.client.getJson('/.well-known/openid-configuration');
    assert.equal((configuration as { issuer: string }).issuer, issuer);
  });
});

test('a caller without a role reaches discovery and nothing else', async () => {
  await using server = await startTestServer();
  const alice = server.clientAs({ username: 'alice', groups: [] });
  assert.ok((await alice.discovery.resources()).length > 0);
  await assert.rejects(alice.resource(CONFIG_MAPS).list({ namespace: 'default' }), { code: 403 });
  await assert.rejects(alice.resource(NAMESPACES).get({ name: 'default' }), { code: 403 });
  await assert.rejects(alice.getJson('/metrics'), { code: 403 });
});
