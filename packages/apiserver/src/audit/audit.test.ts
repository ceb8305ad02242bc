import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Connection, createClient, createTransport } from '@asterism/client';
import { CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import type { ApiServerOptions } from '../compose/api-server-options.ts';
import type { ConnectHandler } from '../http/extension/api-extension.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import type { AuditEvent } from './audit-event.ts';

type Credential = Connection['credential'];

interface Audited extends AsyncDisposable {
  server: TestServer;
  /** Stops the server and gives what was written down of requests whose path begins so. */
  events(path: string): Promise<AuditEvent[]>;
}

async function audited(policy: object, options: Partial<ApiServerOptions> = {}): Promise<Audited> {
  const lines: string[] = [];
  const sink = (events: readonly string[]): void => {
    lines.push(...events);
  };
  const whole = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy };
  const server = await startTestServer({ controllers: false, ...options, audit: { policy: whole, sink } });
  return {
    server,
    events: async (path) => {
      await server.stop();
      const all = lines.map((line) => JSON.parse(line) as AuditEvent);
      return all.filter(({ requestURI }) => requestURI.startsWith(path));
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

const METADATA = { rules: [{ level: 'Metadata' }] };
const COMPLETE = { omitStages: ['RequestReceived', 'ResponseStarted'] };
const MICRO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;

async function raw(
  { url, ca }: TestServer,
  token: string | undefined,
  request: { method?: string; path: string; headers?: Record<string, string | string[]>; body?: string },
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const credential = token === undefined ? { kind: 'none' as const } : { kind: 'token' as const, token };
  await using transport = createTransport({ server: url, caData: ca.cert, credential });
  const answer = await createClient({ transport }).request({ method: 'GET', ...request });
  const pieces: Buffer[] = [];
  for await (const piece of answer.body) pieces.push(piece as Buffer);
  return { status: answer.status, headers: answer.headers, body: Buffer.concat(pieces).toString() };
}

describe('events', () => {
  test('a creation at the level Metadata: two stages, who, what, from where, and why he may', async () => {
    await using given = await audited(METADATA);
    const { server, events } = given;
    const alice = { username: 'alice', uid: 'u1', groups: ['system:masters'], extra: { team: ['a'] } };
    const answer = await raw(server, server.tokenFor(alice), {
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps?fieldManager=me',
      headers: {
        'content-type': 'application/json',
        'audit-id': 'my-id',
        'x-forwarded-for': '10.0.0.1, nonsense, 10.0.0.2',
      },
      body: JSON.stringify({ metadata: { name: 'a' }, data: { secret: 'no' } }),
    });
    assert.equal(answer.headers['audit-id'], 'my-id');
    const [received, complete, ...more] = await events('/api/v1/namespaces/default/configmaps');
    assert.deepEqual(more, []);
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'my-id',
      requestURI: '/api/v1/namespaces/default/configmaps?fieldManager=me',
      verb: 'create',
      user: {
        username: 'alice',
        uid: 'u1',
        groups: ['system:masters', 'system:authenticated'],
        extra: { team: ['a'] },
      },
      sourceIPs: ['10.0.0.1', '10.0.0.2', '127.0.0.1'],
      userAgent: 'asterism-client',
    };
    const objectRef = { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' };
    const { requestReceivedTimestamp, stageTimestamp, ...first } = received!;
    assert.deepEqual(first, { ...common, stage: 'RequestReceived', objectRef });
    assert.match(requestReceivedTimestamp, MICRO_TIME);
    assert.equal(stageTimestamp, requestReceivedTimestamp);
    const { requestReceivedTimestamp: began, stageTimestamp: ended, ...last } = complete!;
    assert.deepEqual(last, {
      ...common,
      stage: 'ResponseComplete',
      objectRef: { ...objectRef, name: 'a' },
      responseStatus: { metadata: {}, code: 201 },
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    });
    assert.equal(began, requestReceivedTimestamp);
    assert.match(ended, MICRO_TIME);
    assert.ok(ended > began, `${ended} is not after ${began}`);
  });

  test('a refusal tells the Status and the decision; one of impersonation whom the caller is', async () => {
    await using given = await audited({ ...METADATA, ...COMPLETE });
    const { server, events } = given;
    const token = server.tokenFor({ username: 'bob', groups: [] });
    await raw(server, token, { path: '/api/v1/namespaces/default/secrets/x' });
    await raw(server, token, {
      path: '/api/v1/namespaces/default/pods',
      headers: { 'impersonate-user': 'root' },
    });
    await raw(server, server.tokenFor({ username: 'root', groups: ['system:masters'] }), {
      path: '/api/v1/namespaces/default/services',
      headers: { 'impersonate-user': 'carol', 'impersonate-group': ['a', 'b'] },
    });
    const [secrets, pods, services] = await events('/api/v1/namespaces/default/');
    assert.deepEqual(secrets?.responseStatus, {
      metadata: {},
      status: 'Failure',
      message:
        'secrets "x" is forbidden: User "bob" cannot get resource "secrets" in API group "" in the namespace "default"',
      reason: 'Forbidden',
      details: { name: 'x', kind: 'secrets' },
      code: 403,
    });
    assert.equal(secrets?.annotations?.['authorization.k8s.io/decision'], 'forbid');
    assert.equal(pods?.responseStatus?.code, 403);
    assert.equal(pods?.user.username, 'bob');
    assert.equal(pods?.impersonatedUser, undefined);
    assert.equal(services?.user.username, 'root');
    assert.deepEqual(services?.impersonatedUser, { username: 'carol', groups: ['a', 'b', 'system:authenticated'] });
  });

  test('credentials that are no good are one event without a user, and without the credentials', async () => {
    await using given = await audited(METADATA);
    const { server, events } = given;
    const path = '/api/v1/namespaces?access_token=hidden-token';
    assert.equal((await raw(server, 'wrong-token', { path })).status, 401);
    const found = await events('/api/v1/namespaces');
    assert.equal(found.length, 1);
    const { stage, user, responseStatus, requestURI } = found[0]!;
    assert.deepEqual([stage, user, requestURI], ['ResponseStarted', {}, '/api/v1/namespaces?access_token=REDACTED']);
    assert.deepEqual(responseStatus, {
      metadata: {},
      status: 'Failure',
      message: 'Authentication failed, attempted: bearer, access_token',
      code: 401,
    });
    assert.doesNotMatch(JSON.stringify(found), /wrong-token|hidden-token/);
  });

  test('a watch has an event when it starts and one when it ends', async () => {
    await using given = await audited(METADATA);
    const { server, events } = given;
    await raw(server, server.tokenFor({ username: 'root', groups: ['system:masters'] }), {
      path: '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1',
    });
    const found = await events('/api/v1/namespaces/default/configmaps');
    assert.deepEqual(
      found.map(({ stage, verb, responseStatus }) => [stage, verb, responseStatus?.code]),
      [
        ['RequestReceived', 'watch', undefined],
        ['ResponseStarted', 'watch', 200],
        ['ResponseComplete', 'watch', 200],
      ],
    );
  });

  test('a connection has an event when it is there and one when it has ended', async () => {
    const exec: ConnectHandler = {
      group: '',
      resource: 'pods',
      subresource: 'exec',
      handle: () => Promise.reject(new Error('only upgrades')),
      upgrade: (_, socket) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
        return Promise.resolve();
      },
    };
    await using given = await audited(METADATA, { connects: [exec] });
    const { server, events } = given;
    const path = '/api/v1/namespaces/default/pods/x/exec?command=ls';
    const upgrade = async (credential: Credential): Promise<number> => {
      await using transport = createTransport({ server: server.url, caData: server.ca.cert, credential });
      const answer = await transport.upgrade({
        method: 'POST',
        path,
        headers: { upgrade: 'x', connection: 'upgrade' },
      });
      if ('socket' in answer) for await (const _ of answer.socket);
      else for await (const _ of answer.body);
      return answer.status;
    };
    const token = server.tokenFor({ username: 'root', groups: ['system:masters'] });
    assert.equal(await upgrade({ kind: 'token', token }), 101);
    assert.equal(await upgrade({ kind: 'none' }), 403);
    const found = await events('/api/v1/namespaces/default/pods/x/exec');
    assert.deepEqual(
      found.map(({ stage, user, responseStatus }) => [user.username, stage, responseStatus?.code]),
      [
        ['root', 'RequestReceived', undefined],
        ['root', 'ResponseStarted', 101],
        ['root', 'ResponseComplete', 101],
        ['system:anonymous', 'RequestReceived', undefined],
        ['system:anonymous', 'ResponseStarted', 403],
        ['system:anonymous', 'ResponseComplete', 403],
      ],
    );
  });

  test('a fault of the server is a Panic, which tells nothing of it', async () => {
    const broken: ConnectHandler = {
      group: '',
      resource: 'pods',
      subresource: 'log',
      handle: () => Promise.reject(new Error('inner text')),
    };
    await using given = await audited({ ...METADATA, ...COMPLETE }, { connects: [broken] });
    const { server, events } = given;
    await raw(server, server.tokenFor({ username: 'root', groups: ['system:masters'] }), {
      path: '/api/v1/namespaces/default/pods/x/log',
    });
    const [panic, ...more] = await events('/api/v1/namespaces/default/pods');
    assert.deepEqual(more, []);
    assert.deepEqual([panic?.stage, panic?.responseStatus?.code], ['Panic', 500]);
    assert.equal(panic?.responseStatus?.reason, 'InternalError');
    assert.doesNotMatch(JSON.stringify(panic), /inner text/);
  });

  test('a version that is deprecated says so', async () => {
    await using given = await audited({ ...METADATA, ...COMPLETE });
    const { server, events } = given;
    await raw(server, server.tokenFor({ username: 'root', groups: ['system:masters'] }), {
      path: '/apis/policy/v1beta1/poddisruptionbudgets',
    });
    const [event] = await events('/apis/policy/v1beta1');
    assert.equal(event?.annotations?.['k8s.io/deprecated'], 'true');
    assert.equal(event?.annotations?.['k8s.io/removed-release'], '1.25');
  });
});

describe('bodies', () => {
  const root = { username: 'root', groups: ['system:masters'] };

  test('are there from the level that asks for them, without managed fields where the policy says so', async () => {
    const resources = (names: string[]) => [{ group: '', resources: names }];
    await using given = await audited({
      ...COMPLETE,
      rules: [
        { level: 'Request', resources: resources(['configmaps']) },
        { level: 'RequestResponse', omitManagedFields: true, resources: resources(['serviceaccounts']) },
        { level: 'RequestResponse', resources: resources(['namespaces']) },
      ],
    });
    const { server, events } = given;
    const { client } = server;
    await client.resource(CONFIG_MAPS).create({ metadata: { name: 'a', namespace: 'default' }, data: { k: 'v' } });
    await client.resource(NAMESPACES).create({ metadata: { name: 'n' } });
    await client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 's', namespace: 'default' } });
    await client.resource(SERVICE_ACCOUNTS).list({ namespace: 'default' });
    const patch = '[{"op":"add","path":"/data/z","value":"1"}]';
    await raw(server, server.tokenFor(root), {
      method: 'PATCH',
      path: '/api/v1/namespaces/default/configmaps/a',
      headers: { 'content-type': 'application/json-patch+json' },
      body: patch,
    });
    const found = await events('/api/v1/namespaces');
    const of = (verb: string, resource: string): AuditEvent =>
      found.find((event) => event.verb === verb && event.objectRef?.resource === resource)!;
    const created = of('create', 'configmaps');
    assert.deepEqual((created.requestObject as { data: unknown }).data, { k: 'v' });
    assert.equal(created.responseObject, undefined);
    assert.deepEqual(of('patch', 'configmaps').requestObject, JSON.parse(patch));
    const namespace = of('create', 'namespaces').responseObject as {
      metadata: Record<string, unknown>;
      status: unknown;
    };
    assert.deepEqual(namespace.status, { phase: 'Active' });
    assert.ok(namespace.metadata.managedFields);
    const account = of('create', 'serviceaccounts').responseObject as { metadata: Record<string, unknown> };
    assert.equal(account.metadata.name, 's');
    assert.equal(account.metadata.managedFields, undefined);
    const { kind, items } = of('list', 'serviceaccounts').responseObject as { kind: string; items: object[] };
    assert.equal(kind, 'ServiceAccountList');
    assert.ok(items.length > 0);
    assert.doesNotMatch(JSON.stringify(items), /managedFields/);
  });

  test('of paths that are no resources are never there', async () => {
    await using given = await audited({ ...COMPLETE, rules: [{ level: 'RequestResponse' }] });
    const { server, events } = given;
    await server.client.version();
    const [event] = await events('/version');
    assert.equal(event?.responseStatus?.code, 200);
    assert.equal(event?.responseObject, undefined);
  });

  test('have no token of a TokenRequest or a TokenReview at any level', async () => {
    await using given = await audited({ ...COMPLETE, rules: [{ level: 'RequestResponse' }] });
    const { server, events } = given;
    await server.client.resource(SERVICE_ACCOUNTS).create({ metadata: { name: 's', namespace: 'default' } });
    const post = (path: string, body: object) =>
      raw(server, server.tokenFor(root), {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const asked = await post('/api/v1/namespaces/default/serviceaccounts/s/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    });
    const { token } = (JSON.parse(asked.body) as { status: { token: string } }).status;
    const reviewed = await post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    });
    assert.match(reviewed.body, /system:serviceaccount:default:s/);
    const found = await events('/');
    const text = JSON.stringify(found);
    assert.equal(text.includes(token), false, 'a token stands in the log');
    const answers = found.map(({ responseObject }) => responseObject as { status?: Record<string, unknown> });
    assert.ok(answers.some((answer) => answer?.status?.expirationTimestamp));
    assert.ok(answers.some((answer) => answer?.status?.authenticated));
  });

  test('of Secrets are there where the policy asks for them, as upstream', async () => {
    await using given = await audited({ ...COMPLETE, rules: [{ level: 'Request' }] });
    const { server, events } = given;
    await server.client
      .resource(SECRETS)
      .create({ metadata: { name: 'a', namespace: 'default' }, stringData: { k: 'seen' } });
    const [event] = await events('/api/v1/namespaces/default/secrets');
    assert.match(JSON.stringify(event?.requestObject), /seen/);
  });
});
