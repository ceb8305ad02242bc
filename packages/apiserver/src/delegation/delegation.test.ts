import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, createClient, createTransport, systemClock } from '@asterism/client';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CLUSTER_ROLE_BINDINGS,
  CONFIG_MAPS,
  type KubeObject,
  NAMESPACES,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_RULES_REVIEWS,
  TOKEN_REVIEWS,
} from '@asterism/machinery';
import { createApiServer } from '../api-server.ts';
import type { TokenUser } from '../contract/authenticator.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { createSigningRequest, issueCertificate } from '../pki/index.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { startTestServer } from '../testing/index.ts';
import { createDelegation } from './create-delegation.ts';
import {
  authenticationConfig,
  call,
  type DelegatedServer,
  grant,
  PROXY_NAME,
  startDelegatedServer,
} from './testing/delegated-server.ts';

const READER: UserInfo = { username: 'rita', uid: '7', groups: ['readers'], extra: { scopes: ['a'] } };

/** Time that a test moves on. */
function movableClock(): Clock & { advance(ms: number): void } {
  let later = 0;
  return { ...systemClock, monotonic: () => systemClock.monotonic() + later, advance: (ms) => (later += ms) };
}

function bearer(token: string): { headers: Record<string, string> } {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** A client of the delegated server, as whoever the host knows by the token. */
function clientOf({ url, ca }: DelegatedServer, token: string) {
  return createClient({
    transport: createTransport({ server: url, caData: ca, credential: { kind: 'token', token } }),
  });
}

test('a token of the host is a user here, with uid, groups and extra; his rights are those that he has there', async () => {
  await using running = await startDelegatedServer();
  const { host } = running;
  const rita = await call(running, bearer(host.tokenFor(READER)));
  assert.deepEqual((JSON.parse(rita.body) as { user: UserInfo }).user, {
    ...READER,
    groups: ['readers', 'system:authenticated'],
  });
  const otto = await call(running, bearer(host.tokenFor({ username: 'otto', groups: [] })));
  assert.equal(otto.status, 403);
  assert.match(otto.body, /User \\"otto\\" cannot get resource \\"whoamis\\" in API group \\"test.example.com\\"/);
  assert.equal((await call(running, bearer('nonsense'))).status, 401);
});

test('a token for others only is no good here', async () => {
  const foreign: TokenUser = { user: READER, audiences: ['https://elsewhere'] };
  await using running = await startDelegatedServer({
    host: { tokenAuthenticators: [(token) => (token === 'foreign' ? foreign : undefined)] },
    server: { kinds: 'builtin', storage: createMemoryStorage(), controllers: false },
  });
  assert.equal((await call(running, bearer('foreign'))).status, 401);
  // Whoever asks this server about it, for those others, is told what the host knows.
  await grant(running.host, 'reviewers', {
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
  });
  const client = clientOf(running, running.host.tokenFor({ username: 'r', groups: ['reviewers'] }));
  const review = (audiences?: string[]) =>
    client.resource(TOKEN_REVIEWS).create({ spec: { token: 'foreign', ...(audiences ? { audiences } : {}) } });
  assert.equal((await review()).status?.authenticated, undefined);
  const { status } = await review(['https://elsewhere']);
  assert.deepEqual([status?.authenticated, status?.audiences], [true, ['https://elsewhere']]);
  await client.transport.close();
});

test('no signing request names a privileged group', async () => {
  await using running = await startDelegatedServer({
    server: { kinds: 'builtin', storage: createMemoryStorage(), controllers: false, privilegedGroups: ['admins'] },
  });
  await grant(running.host, 'requesters', {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['create'],
  });
  const client = clientOf(running, running.host.tokenFor({ username: 'r', groups: ['requesters'] }));
  const ask = async (group: string) => {
    const { csr } = await createSigningRequest({ commonName: 'r', organizations: [group] });
    const request = Buffer.from(csr).toString('base64');
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth' as const] };
    return await client.resource(CERTIFICATE_SIGNING_REQUESTS).create({ metadata: { name: group }, spec });
  };
  await assert.rejects(ask('admins'), { code: 403, message: /signer with admins group is not allowed/ });
  await assert.rejects(ask('system:masters'), { code: 403 });
  await ask('devs');
  await client.transport.close();
});

test('answers of the host are remembered, and not for long', async () => {
  const clock = movableClock();
  const users = new Map<string, TokenUser>([['t', { user: READER, audiences: ['https://kubernetes.default.svc'] }]]);
  const asked: string[] = [];
  const lookUp = (token: string): TokenUser | undefined => {
    if (token === 't' || token === 'bad') asked.push(token);
    return users.get(token);
  };
  await using running = await startDelegatedServer({ clock, host: { tokenAuthenticators: [lookUp] } });
  const status = async (token = 't'): Promise<number> => (await call(running, bearer(token))).status;
  assert.deepEqual(await Promise.all([status(), status(), status()]), [200, 200, 200]);
  assert.deepEqual(asked, ['t'], 'one question for all who wait for its answer');

  users.clear();
  clock.advance(9_000);
  assert.equal(await status(), 200);
  clock.advance(1_500);
  assert.equal(await status(), 401, 'a good token counts for 10 s');
  users.set('t', { user: READER, audiences: ['https://kubernetes.default.svc'] });
  clock.advance(1_500);
  assert.equal(await status(), 200, 'a bad one for 1 s');

  const bindings = running.host.client.resource(CLUSTER_ROLE_BINDINGS);
  const { items } = await bindings.list();
  const granted = items.find(({ subjects = [] }) => subjects.some(({ name }) => name === 'readers'));
  const name = granted?.metadata?.name ?? '';
  await bindings.delete({ name });
  clock.advance(8_000);
  assert.equal(await status(), 200);
  clock.advance(2_500);
  assert.equal(await status(), 403, 'an allowance counts for 10 s');
  const { resourceVersion: _, uid: __, ...metadata } = granted?.metadata ?? {};
  await bindings.create({ ...granted, roleRef: granted!.roleRef, metadata });
  clock.advance(1_500);
  assert.equal(await status(), 200, 'a refusal for 1 s');
});

test('answers are remembered by all that was asked: an extra value or a group makes it another question', async () => {
  await using running = await startDelegatedServer();
  const { authorizer } = running.delegation;
  const about = { verb: 'get', group: 'test.example.com', version: 'v1', resource: 'whoamis', name: 'me' };
  const ask = async (user: UserInfo): Promise<boolean> => (await authorizer.authorize({ ...about, user })).allowed;
  assert.equal(await ask(READER), true);
  assert.equal(await ask({ ...READER, groups: [] }), false);
  assert.equal(await ask({ username: 'rita', groups: ['readers'] }), true);
  assert.equal((await authorizer.authorize({ ...about, user: READER, verb: 'delete' })).allowed, false);
  assert.equal(
    (await authorizer.authorize({ user: READER, verb: 'get', path: '/apis/test.example.com/v1/whoamis/me' })).allowed,
    false,
  );
  assert.equal(
    (await authorizer.authorize({ user: { username: 'x', groups: ['system:masters'] }, verb: 'get', path: '/secret' }))
      .allowed,
    true,
  );
});

test('while the host is away nothing is allowed, and health is told', async () => {
  const clock = movableClock();
  await using running = await startDelegatedServer({ clock });
  const { host, proxyCa } = running;
  const identity = await issueCertificate(proxyCa, { commonName: PROXY_NAME, usages: ['client'], days: 1 });
  const as = (user: string) => ({ identity, headers: { 'X-Remote-User': user, 'X-Remote-Group': 'readers' } });
  assert.equal((await call(running, as('rita'))).status, 200);
  await host.stop();
  assert.equal((await call(running, as('rita'))).status, 200, 'the last answer still counts');
  clock.advance(10_000);
  for (const options of [as('rita'), as('eve'), bearer('token'), {}]) {
    const answer = await call(running, options);
    assert.equal(answer.status, 503, answer.body);
    assert.equal(answer.headers['retry-after'], '1');
    assert.match(answer.body, /did not answer the (SubjectAccess|Token)Review of this request/);
  }
  for (const path of ['/healthz', '/livez', '/readyz']) assert.equal((await call(running, { path })).status, 200);
  assert.equal((await call(running, { path: '/metrics' })).status, 503);
});

test('a host that does not let this server ask is a fault of this server, and nothing is allowed', async () => {
  await using host = await startTestServer({ controllers: false });
  await host.client.resource(CONFIG_MAPS).update(authenticationConfig(host.ca.cert, host.ca.cert));
  await grant(host, 'poor', { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] });
  await using delegation = await createDelegation({ client: host.clientAs({ username: 'p', groups: ['poor'] }) });
  await assert.rejects(Promise.resolve(delegation.authorizer.authorize({ user: READER, verb: 'get', path: '/x' })), {
    code: 500,
    message: /does not let this server create subjectaccessreviews: bind the ClusterRole system:auth-delegator/,
  });
});

test('a delegation says why it cannot begin', async () => {
  await using host = await startTestServer({ controllers: false });
  const { metadata } = authenticationConfig('', '');
  await host.client.resource(CONFIG_MAPS).delete({ namespace: metadata!.namespace!, name: metadata!.name! });
  await assert.rejects(
    createDelegation({ client: host.client }),
    /kube-system\/extension-apiserver-authentication of https:.*not found/,
  );
  await assert.rejects(
    createDelegation({ client: host.clientAs(READER) }),
    /bind the Role extension-apiserver-authentication-reader/,
  );
  const data = { 'requestheader-allowed-names': '"all"', 'requestheader-client-ca-file': host.ca.cert };
  await host.client.resource(CONFIG_MAPS).create({ metadata: metadata!, data });
  await assert.rejects(
    createDelegation({ client: host.client }),
    /makes no sense: requestheader-allowed-names is not a list/,
  );
});

test('own kinds in own storage, and the host’s word on everything about them', async () => {
  await using running = await startDelegatedServer({
    server: { kinds: 'builtin', storage: createMemoryStorage(), controllers: false },
  });
  const { host } = running;
  await grant(host, 'writers', {
    apiGroups: ['', 'authorization.k8s.io'],
    resources: ['configmaps', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    verbs: ['create', 'list'],
  });
  const client = clientOf(running, host.tokenFor({ username: 'will', groups: ['writers'] }));
  await client.resource(CONFIG_MAPS).create({ metadata: { name: 'a', namespace: 'default' } });
  const here = await client.resource(CONFIG_MAPS).list({ namespace: 'default' });
  assert.deepEqual(
    here.items.map(({ metadata }) => metadata?.name),
    ['a'],
  );
  assert.equal((await host.client.resource(CONFIG_MAPS).list({ namespace: 'default' })).items.length, 0);

  const mayI = async (verb: string, resource: string): Promise<boolean | undefined> => {
    const spec = { resourceAttributes: { verb, resource, namespace: 'default' } };
    return (await client.resource(SELF_SUBJECT_ACCESS_REVIEWS).create({ spec })).status?.allowed;
  };
  assert.deepEqual([await mayI('create', 'configmaps'), await mayI('get', 'secrets')], [true, false]);
  const rules = await client.resource(SELF_SUBJECT_RULES_REVIEWS).create({ spec: { namespace: 'default' } });
  assert.equal(rules.status?.incomplete, true);

  // Roles of this server say nothing, and none were made.
  const root = createClient({ transport: running.server.transport({ username: 'root', groups: ['system:masters'] }) });
  assert.equal((await root.resource(CLUSTER_ROLE_BINDINGS).list()).items.length, 0);
  await root.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: 'all' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'will' }],
  });
  await assert.rejects(client.resource(NAMESPACES).list(), { code: 403 });
  await client.transport.close();
});

test('who may act as another is the host’s to say', async () => {
  await using running = await startDelegatedServer();
  const { host } = running;
  await grant(host, 'deputies', { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] });
  const headers = { 'Impersonate-User': 'rita', 'Impersonate-Group': 'readers' };
  const as = (groups: string[]) => ({
    headers: { ...bearer(host.tokenFor({ username: 'd', groups })).headers, ...headers },
  });
  const refused = await call(running, as(['readers']));
  assert.equal(refused.status, 403);
  assert.match(refused.body, /cannot impersonate/);
  const { status, body } = await call(running, as(['deputies']));
  assert.equal(status, 200, body);
  assert.equal((JSON.parse(body) as { user: UserInfo }).user.username, 'rita');
});

test('nobody whom only this server knows is let in beside the host’s callers', async () => {
  await using running = await startDelegatedServer();
  const { delegation } = running;
  const storage = createMemoryStorage();
  const attempt = (options: object) => () => createApiServer({ storage, delegation, ...options });
  assert.throws(attempt({ staticTokens: [], clientCa: 'x' }), /takes no `clientCa`, `staticTokens`/);
  assert.throws(attempt({ serviceAccounts: { issuer: 'x', key: 'x' } }), /takes no `serviceAccounts`/);
  assert.throws(() => createApiServer({ kinds: 'none' }), /it needs `delegation`/);
  assert.throws(() => createApiServer({}), /needs `storage`/);
  assert.throws(() => createApiServer({ kinds: 'none', delegation, connects: [] }), /takes no `connects`/);
});

test('a server of extensions alone: discovery, OpenAPI, version and health', async () => {
  await using running = await startDelegatedServer();
  const token = running.host.tokenFor({ username: 'v', groups: [] });
  const get = async (path: string, accept = 'application/json', more: Record<string, string> = {}) => {
    const answer = await call(running, { path, headers: { ...bearer(token).headers, accept, ...more } });
    return {
      ...answer,
      json: !answer.body.startsWith('{') ? {} : (JSON.parse(answer.body) as Record<string, unknown>),
    };
  };
  assert.deepEqual((await get('/api')).json['versions'], []);
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  assert.deepEqual((await get('/api', v2)).json['items'], []);
  const groups = (await get('/apis', v2)).json['items'] as { metadata: { name: string } }[];
  assert.deepEqual(
    groups.map(({ metadata }) => metadata.name),
    ['test.example.com'],
  );
  const legacy = (await get('/apis')).json['groups'] as { name: string }[];
  assert.deepEqual(
    legacy.map(({ name }) => name),
    ['test.example.com'],
  );
  const resources = (await get('/apis/test.example.com/v1')).json['resources'] as { name: string }[];
  assert.deepEqual(
    resources.map(({ name }) => name),
    ['whoamis'],
  );
  assert.equal((await get('/api/v1/namespaces')).status, 403);

  const openapi = await get('/openapi/v2');
  assert.equal((openapi.json as { swagger?: string }).swagger, '2.0');
  assert.equal((await get('/openapi/v2', undefined, { 'if-none-match': String(openapi.headers['etag']) })).status, 304);
  const { paths } = (await get('/openapi/v3')).json as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  assert.deepEqual(Object.keys(paths), ['apis/test.example.com/v1']);
  const document = (await get(paths['apis/test.example.com/v1']!.serverRelativeURL)).json as unknown as {
    paths: Record<string, { get?: KubeObject }>;
    components: { schemas: Record<string, object> };
  };
  assert.ok(document.paths['/apis/test.example.com/v1/whoamis/{name}']?.get);
  assert.ok(document.components.schemas['com.example.test.v1.Whoami']);
  assert.match((await get('/version')).body, /gitVersion/);
  assert.equal((await get('/readyz')).body.length > 0, true);
});
