import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import { CONFIG_MAPS, type KubeObject, type Secret, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { SignJWT } from 'jose';
import { createPrivateKey } from 'node:crypto';
import { newPrivateKey } from '../pki/index.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

const ISSUER = 'https://issuer.test';
const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
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
  const options = { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}`, signal: AbortSignal.timeout(30_000) };
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
  await change({ metadata: { labels: { [INVALID_SINCE]: '2026-01-01' } } });
  assert.equal(await whoIs(server, token), 401);
  await change({ metadata: { labels: null } });
  assert.equal(await whoIs(server, token), USERNAME);
  await change({ data: { token: Buffer.from('another').toString('base64') } });
  assert.equal(await whoIs(server, token), 401);
  assert.equal(await whoIs(server, 'another'), 401);
});

test('the day of its last use is noted on the Secret, once, and also where the token counts no more', async () => {
  let now = Date.parse('2026-03-01T23:00:00Z');
  await using server = await startTestServer({ clock: () => now });
  await makeAccount(server);
  const token = await makeToken(server);
  const secrets = server.client.resource(SECRETS);
  const ref = { namespace: NAMESPACE, name: 'bot-token' };
  const noted = (day: string) => seen(server, ref.name, (_, { metadata }) => metadata?.labels?.[LAST_USED] === day);
  assert.equal(await whoIs(server, token), USERNAME);
  const first = await noted('2026-03-01');
  assert.deepEqual(first.metadata?.managedFields?.find(({ manager }) => manager === 'kube-apiserver')?.fieldsV1, {
    'f:metadata': { 'f:labels': { '.': {}, [`f:${LAST_USED}`]: {} } },
  });
  assert.equal(await whoIs(server, token), USERNAME);
  // The clock of another server may be ahead.
  now -= 2 * 3600_000;
  assert.equal(await whoIs(server, token), USERNAME);
  await secrets.patch(ref, { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } });
  const changes: unknown[] = [];
  const { resourceVersion = '' } = first.metadata ?? {};
  for await (const event of secrets.watch({
    namespace: NAMESPACE,
    resourceVersion,
    signal: AbortSignal.timeout(30_000),
  })) {
    if (event.type === 'MODIFIED') changes.push(event.object.metadata?.labels);
    if (changes.length > 0) break;
  }
  assert.deepEqual(changes, [{ [LAST_USED]: '2026-03-01', seen: 'yes' }]);
  now = Date.parse('2026-03-02T01:00:00Z');
  await secrets.patch(ref, { type: 'merge', body: { metadata: { labels: { [INVALID_SINCE]: '2026-03-02' } } } });
  assert.equal(await whoIs(server, token), 401);
  await noted('2026-03-02');
});

const TRACKING = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };
const spoilt: [name: string, since: string | null][] = [
  ['none', null],
  ['no date', 'today'],
  ['a day that there is not', '2026-02-30'],
];
for (const [name, since] of spoilt) {
  test(`since when uses are noted is told, and mended: ${name}`, async () => {
    await using server = await startTestServer({ clock: () => Date.parse('2026-03-01T12:00:00Z') });
    const configMaps = server.client.resource(CONFIG_MAPS);
    const told = async (wanted: string): Promise<void> => {
      const options = { namespace: TRACKING.namespace, fieldSelector: `metadata.name=${TRACKING.name}` };
      for await (const event of configMaps.watch({ ...options, signal: AbortSignal.timeout(30_000) })) {
        const isThere = event.type === 'ADDED' || event.type === 'MODIFIED';
        if (isThere && event.object.data?.since === wanted) return;
      }
    };
    await told('2026-03-01');
    await configMaps.patch(TRACKING, { type: 'merge', body: { data: { since: '2025-12-24' } } });
    await told('2025-12-24');
    await configMaps.patch(TRACKING, { type: 'merge', body: { data: { since } } });
    await told('2026-03-01');
    await configMaps.delete(TRACKING);
    await told('2026-03-01');
  });
}

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
