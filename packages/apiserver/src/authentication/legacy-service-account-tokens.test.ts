import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import { type KubeObject, type Secret, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { createPrivateKey } from 'node:crypto';
import { newPrivateKey } from '../pki/index.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

const ISSUER = 'https://issuer.test';
const TYPE = 'kubernetes.io/service-account-token';
const NAMESPACE = 'default';
const USERNAME = 'system:serviceaccount:default:bot';

async function makeAccount(server: TestServer): Promise<string> {
  const account = await server.client
    .resource(SERVICE_ACCOUNTS)
    .create({ metadata: { name: 'bot', namespace: NAMESPACE } });
  return account.metadata?.uid ?? '';
}

/** Makes the Secret and waits for its token. */
async function makeToken(server: TestServer, name = 'bot-token'): Promise<string> {
  const annotations = { 'kubernetes.io/service-account.name': 'bot' };
  const secrets = server.client.resource(SECRETS);
  await secrets.create({ metadata: { name, namespace: NAMESPACE, annotations }, type: TYPE });
  const secret = await seen(server, name, (event, { data }) => event !== 'DELETED' && data?.token !== undefined);
  return Buffer.from(secret.data?.token ?? '', 'base64').toString();
}

async function seen(
  server: TestServer,
  name: string,
  matches: (event: string, secret: Secret) => boolean,
): Promise<Secret> {
  const options = { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}`, signal: AbortSignal.timeout(5_000) };
  for await (const event of server.client.resource(SECRETS).watch(options)) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED') {
      if (matches(event.type, event.object)) return event.object;
    }
  }
  throw new Error('the watch ended');
}

/** Who the server takes the bearer for; 401 where for nobody. */
async function whoIs(server: TestServer, token: string): Promise<unknown> {
  await using transport = createTransport({ ...server.connection, credential: { kind: 'token', token } });
  const review = {
    group: 'authentication.k8s.io',
    version: 'v1',
    resource: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    namespaced: false,
  };
  try {
    const answer = await createClient({ transport }).resource<KubeObject>(review).create({});
    return (answer.status as { userInfo: { username: string } }).userInfo.username;
  } catch (error) {
    return (error as { code: number }).code;
  }
}

test('a Secret for an account gets a token that opens the door while the Secret is there', async () => {
  await using server = await startTestServer();
  const uid = await makeAccount(server);
  const token = await makeToken(server);
  const ref = { namespace: NAMESPACE, name: 'bot-token' };
  const secret = await server.client.resource(SECRETS).get(ref);
  assert.equal(secret.metadata?.annotations?.['kubernetes.io/service-account.uid'], uid);
  assert.equal(Buffer.from(secret.data?.namespace ?? '', 'base64').toString(), NAMESPACE);
  assert.equal(Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString(), server.ca.cert);
  assert.equal(await whoIs(server, token), USERNAME);
  await server.client.resource(SECRETS).delete(ref);
  assert.equal(await whoIs(server, token), 401);
  const next = await makeToken(server);
  assert.equal(await whoIs(server, next), USERNAME);
});

test('the Secret goes with its account, and its token is none for the next account of that name', async () => {
  await using server = await startTestServer();
  await makeAccount(server);
  const token = await makeToken(server);
  const gone = seen(server, 'bot-token', (event) => event === 'DELETED');
  await server.client.resource(SERVICE_ACCOUNTS).delete({ namespace: NAMESPACE, name: 'bot' });
  await gone;
  assert.equal(await whoIs(server, token), 401);
  await makeAccount(server);
  assert.equal(await whoIs(server, token), 401);
  const annotations = { 'kubernetes.io/service-account.name': 'nobody' };
  const metadata = { name: 'orphan', namespace: NAMESPACE, annotations };
  const orphanGone = seen(server, 'orphan', (event) => event === 'DELETED');
  await server.client.resource(SECRETS).create({ metadata, type: TYPE });
  await orphanGone;
});

test('a token counts only as its Secret has it', async () => {
  await using server = await startTestServer();
  await makeAccount(server);
  const token = await makeToken(server);
  const secrets = server.client.resource(SECRETS);
  const ref = { namespace: NAMESPACE, name: 'bot-token' };
  const change = async (body: object): Promise<void> => {
    await secrets.patch(ref, { type: 'merge', body });
  };
  await change({ metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } });
  assert.equal(await whoIs(server, token), 401);
  await change({ metadata: { labels: null } });
  assert.equal(await whoIs(server, token), USERNAME);
  await change({ data: { token: Buffer.from('another').toString('base64') } });
  assert.equal(await whoIs(server, token), 401);
  assert.equal(await whoIs(server, 'another'), 401);
});

const forged: [name: string, change: Record<string, unknown>, header?: object][] = [
  ['of another key', {}],
  ['of another account', { 'kubernetes.io/serviceaccount/service-account.name': 'admin' }],
  ['of another uid', { 'kubernetes.io/serviceaccount/service-account.uid': 'x' }],
  ['of another Secret', { 'kubernetes.io/serviceaccount/secret.name': 'x' }],
  ['of another subject', { sub: 'system:serviceaccount:kube-system:admin' }],
  ['of the issuer of bound tokens', { iss: ISSUER }],
];
for (const [name, change] of forged) {
  test(`a token is none: ${name}`, async () => {
    const key = newPrivateKey();
    await using server = await startTestServer({ serviceAccounts: { issuer: ISSUER, key } });
    await makeAccount(server);
    const token = await makeToken(server);
    const [header = '', payload = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    const resigned = (more: object, by: string): Promise<string> =>
      new SignJWT({ ...(JSON.parse(payload) as object), ...more })
        .setProtectedHeader(JSON.parse(header) as { alg: string })
        .sign(createPrivateKey(by));
    assert.equal(await whoIs(server, await resigned(change, name === 'of another key' ? newPrivateKey() : key)), 401);
  });
}
