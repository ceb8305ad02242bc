import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import {
  API_SERVICES,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeObject,
} from '@asterism/machinery';
import { type Aggregating, NAME, startAggregating } from './testing/aggregating.ts';
import { type Answered, ask, PATH } from './testing/ask.ts';
import { type Backend, DISCOVERED, GROUP, json, startBackend } from './testing/backend.ts';

const RBAC = 'rbac.authorization.k8s.io';

async function readBytes(from: Readable, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let received = 0;
  for await (const piece of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    received += piece.length;
    if (received >= length) break;
  }
  return Buffer.concat(pieces);
}

/** Whoever is of `makers` may do everything with widgets. */
async function allowMakers({ server }: Aggregating): Promise<void> {
  const rule = { apiGroups: [GROUP], resources: ['*'], verbs: ['*'] };
  await server.client.resource(CLUSTER_ROLES).create({ metadata: { name: 'makers' }, rules: [rule] });
  await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: 'makers' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'makers' },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'makers' }],
  });
}

async function serving(options: Partial<Parameters<typeof startBackend>[0]> = {}): Promise<{
  t: Aggregating;
  backend: Backend;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const backend = await startBackend({ service: 'widgets', ...options });
  const t = await startAggregating();
  await t.register('widgets', backend);
  await t.until('Passed');
  return {
    t,
    backend,
    [Symbol.asyncDispose]: async () => {
      await t[Symbol.asyncDispose]();
      await backend.stop();
    },
  };
}

describe('a group-version that an APIService sends to another server', () => {
  for (const http2 of [true, false]) {
    test(`requests go there by ${http2 ? 'HTTP/2' : 'HTTP/1.1'}, in the caller’s name and with none of his credentials`, async () => {
      await using running = await serving({ http2 });
      const { t, backend } = running;
      await allowMakers(t);
      const mia = { username: 'Zoë', uid: '7', groups: ['makers'], extra: { 'example.com/scopes': ['a', 'b'] } };
      backend.answer = (request, response) => {
        void textOf(request).then((body) => json(response, { got: body }, 201));
      };
      const answer = await ask(t.server.clientAs(mia), {
        method: 'POST',
        path: `${PATH}?fieldManager=x`,
        body: '{"kind":"Widget"}',
        headers: {
          'content-type': 'application/json',
          cookie: 'c=1',
          'x-remote-user': 'root',
          'x-remote-group': 'system:masters',
          'x-remote-extra-scopes': 'all',
          'audit-id': 'the-audit-id',
        },
      });
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [201, { got: '{"kind":"Widget"}' }]);
      assert.equal(answer.headers['audit-id'], 'the-audit-id');
      const [{ headers, url } = {} as IncomingMessage] = backend.requests;
      assert.equal(url, `${PATH}?fieldManager=x`);
      const named = Object.entries(headers).filter(([name]) =>
        /^(x-remote|authorization|cookie|imperson|audit)/.test(name),
      );
      assert.deepEqual(Object.fromEntries(named), {
        'audit-id': 'the-audit-id',
        'x-remote-user': Buffer.from('Zoë').toString('latin1'),
        'x-remote-uid': '7',
        'x-remote-group': 'makers, system:authenticated',
        'x-remote-extra-example.com%2fscopes': 'a, b',
      });
    });
  }

  test('rights are looked at here first, and whom a caller acts as is found out before', async () => {
    await using running = await serving();
    const { t, backend } = running;
    await allowMakers(t);
    const otto = t.server.clientAs({ username: 'otto', groups: [] });
    const refused = await ask(otto, { path: PATH });
    assert.equal(refused.status, 403);
    assert.match(
      refused.text,
      /User \\"otto\\" cannot list resource \\"widgets\\" in API group \\"widgets.example.com\\"/,
    );
    assert.equal((await ask(otto, { path: PATH, headers: { 'impersonate-user': 'mia' } })).status, 403);
    assert.equal(backend.requests.length, 0);
    const headers = { 'impersonate-user': 'mia', 'impersonate-group': 'makers' };
    assert.equal((await ask(t.server.client, { path: PATH, headers })).status, 200);
    assert.equal(backend.requests[0]?.headers['x-remote-user'], 'mia');
    assert.equal(backend.requests[0]?.headers['impersonate-user'], undefined);
  });

  test('its resources stand in discovery, and stay there as stale while it is away', async () => {
    await using running = await serving();
    const { t, backend } = running;
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const versionOf = async (): Promise<object | undefined> => {
      const { text } = await ask(t.server.client, { path: '/apis', headers: { accept } });
      const { items } = JSON.parse(text) as { items: { metadata: { name: string }; versions: object[] }[] };
      return items.find(({ metadata }) => metadata.name === GROUP)?.versions[0];
    };
    assert.deepEqual(await versionOf(), { version: 'v1', resources: [DISCOVERED], freshness: 'Current' });
    const { groups } = (await t.server.client.getJson('/apis')) as { groups: { name: string }[] };
    assert.equal(groups.at(-1)?.name, GROUP);
    const group = (await t.server.client.getJson(`/apis/${GROUP}`)) as { preferredVersion: object };
    assert.deepEqual(group.preferredVersion, { groupVersion: `${GROUP}/v1`, version: 'v1' });
    await backend.stop();
    assert.equal((await ask(t.server.client, { path: PATH })).status, 503);
    await t.until('FailedDiscoveryCheck');
    assert.deepEqual(await versionOf(), { version: 'v1', resources: [DISCOVERED], freshness: 'Stale' });
    const refused = await ask(t.server.client, { path: PATH });
    assert.deepEqual([refused.status, refused.text], [503, 'service unavailable\n']);
  });

  test('a server that knows neither aggregated discovery nor OpenAPI v3 is described as well', async () => {
    await using running = await serving({ isModern: false });
    const { client } = running.t.server;
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { text } = await ask(client, { path: '/apis', headers: { accept } });
    const { items } = JSON.parse(text) as {
      items: { metadata: { name: string }; versions: { resources: object[] }[] }[];
    };
    assert.deepEqual(items.find(({ metadata }) => metadata.name === GROUP)?.versions[0]?.resources, [DISCOVERED]);
    const index = (await client.getJson('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
    const document = (await client.getJson(index.paths[`apis/${GROUP}/v1`]!.serverRelativeURL)) as {
      components: { schemas: Record<string, { properties: { spec: { description: string } } }> };
      paths: Record<string, { get: { responses: Record<string, { content: object }> } }>;
    };
    assert.equal(document.components.schemas['com.example.Widget']?.properties.spec.description, 'What it is.');
    assert.deepEqual(document.paths[`/apis/${GROUP}/v1/widgets`]?.get.responses['200']?.content, {
      'application/json': { schema: { $ref: '#/components/schemas/com.example.Widget' } },
    });
  });

  test('its schemas stand in OpenAPI v3 and v2, and nothing else of it', async () => {
    await using running = await serving();
    const { client } = running.t.server;
    const index = (await client.getJson('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
    const { serverRelativeURL } = index.paths[`apis/${GROUP}/v1`]!;
    assert.equal(serverRelativeURL, `/openapi/v3/apis/${GROUP}/v1?hash=ABC`);
    const { components } = (await client.getJson(serverRelativeURL)) as { components: { schemas: object } };
    assert.deepEqual(Object.keys(components.schemas), ['com.example.Widget']);
    const whole = (await client.getJson('/openapi/v2')) as { definitions: object; paths: object };
    assert.ok('com.example.Widget' in whole.definitions && 'io.k8s.api.core.v1.Pod' in whole.definitions);
    assert.ok(!('com.example.Other' in whole.definitions) && !('/apis/other.example.com/v1/others' in whole.paths));
    const types = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    assert.equal((await ask(client, { path: '/openapi/v2', headers: { accept: types } })).status, 200);
  });

  test('a watch streams, and ends there when its caller leaves', async () => {
    await using running = await serving();
    const { t, backend } = running;
    const left = Promise.withResolvers<void>();
    backend.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"type":"ADDED"}\n');
      response.on('close', () => left.resolve());
    };
    const { status, body } = await t.server.client.request({ method: 'GET', path: `${PATH}?watch=1`, long: true });
    assert.equal(status, 200);
    const [line] = (await once(body, 'data')) as [Buffer];
    assert.equal(String(line), '{"type":"ADDED"}\n');
    body.destroy();
    await left.promise;
  });

  test('an Upgrade carries bytes both ways; one that is refused is refused in its words', async () => {
    await using running = await serving();
    const { t, backend } = running;
    backend.upgrade = (request, socket, head) => {
      if (request.url?.endsWith('/no')) {
        socket.end('HTTP/1.1 409 Conflict\r\ncontent-length: 4\r\n\r\nbusy');
        return;
      }
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\nx-more: 1\r\n\r\n');
      socket.write(head);
      socket.pipe(socket);
    };
    const headers = {
      connection: 'Upgrade',
      upgrade: 'echo',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io',
    };
    const request = { method: 'GET', headers };
    const answer = await t.server.client.transport.upgrade({ ...request, path: `${PATH}/a/exec` });
    assert.ok('socket' in answer);
    assert.deepEqual([answer.headers.upgrade, answer.headers['x-more']], ['echo', '1']);
    const bytes = Buffer.alloc(1024 * 1024, 'bytes');
    answer.socket.write(bytes);
    assert.ok((await readBytes(answer.socket, bytes.length)).equals(bytes));
    answer.socket.destroy();
    assert.equal(backend.requests.at(-1)?.headers['sec-websocket-protocol'], 'v5.channel.k8s.io');
    assert.equal(backend.requests.at(-1)?.headers['x-remote-user'], 'admin');
    const refused = await t.server.client.transport.upgrade({ ...request, path: `${PATH}/a/no` });
    assert.ok(!('socket' in refused));
    assert.deepEqual([refused.status, await textOf(refused.body)], [409, 'busy']);
  });

  const rude: [string, (response: ServerResponse) => void, (answer: Answered) => void][] = [
    [
      'redirects',
      (response) => void response.writeHead(302, { location: 'https://elsewhere.example.com/' }).end(),
      ({ status, text, headers }) =>
        assert.deepEqual([status, /not permitted/.test(text), headers.location], [502, true, undefined]),
    ],
    ['ends the connection', (response) => void response.destroy(), ({ status }) => assert.equal(status, 503)],
    [
      'sends huge headers',
      (response) => void response.writeHead(200, { 'x-huge': 'x'.repeat(200_000) }).end(),
      ({ status }) => assert.equal(status, 503),
    ],
    [
      'sets cookies',
      (response) => void response.writeHead(200, { 'set-cookie': 'a=b', connection: 'close' }).end('{}'),
      ({ status, headers }) => assert.deepEqual([status, headers['set-cookie']], [200, undefined]),
    ],
  ];
  for (const [what, act, check] of rude) {
    test(`one that ${what}`, async () => {
      await using running = await serving({ http2: false });
      running.backend.answer = (_, response) => act(response);
      check(await ask(running.t.server.client, { path: PATH }));
    });
  }

  for (const http2 of [true, false]) {
    test(`an answer by ${http2 ? 'HTTP/2' : 'HTTP/1.1'} that breaks off is not taken for a whole one`, async () => {
      await using running = await serving({ http2 });
      let breakOff = (): void => {};
      running.backend.answer = (_, response) => {
        const { stream } = response as { stream?: ServerHttp2Stream };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"items":[');
        breakOff = () => (http2 ? stream?.destroy(new Error('broken')) : void response.destroy());
      };
      const { body } = await running.t.server.client.request({ method: 'GET', path: PATH });
      await once(body, 'data');
      breakOff();
      await assert.rejects(textOf(body));
    });
  }

  test('a path that could be read as another one does not leave', async () => {
    await using running = await serving();
    for (const path of [`${PATH}/a/../../../../../../api/v1/secrets`, `${PATH}/%2e%2e`, `${PATH}/a%2Fstatus`]) {
      assert.equal((await ask(running.t.server.client, { path })).status, 400, path);
    }
    assert.equal(running.backend.requests.length, 0);
  });

  test('with its APIService it is gone at once', async () => {
    await using running = await serving();
    const { client } = running.t.server;
    await client.resource(API_SERVICES).delete({ name: NAME });
    assert.equal((await ask(client, { path: PATH })).status, 404);
    assert.equal((await ask(client, { path: `/apis/${GROUP}` })).status, 404);
    const { groups } = (await client.getJson('/apis')) as { groups: { name: string }[] };
    assert.ok(!groups.some(({ name }) => name === GROUP));
  });

  test('it goes before a custom resource of the same group-version, and that comes back after it', async () => {
    await using running = await serving();
    const { client } = running.t.server;
    const definitions = client.resource<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS);
    const name = `widgets.${GROUP}`;
    await definitions.create({
      metadata: { name },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    } as KubeObject);
    for await (const { object } of definitions.watch({ signal: AbortSignal.timeout(30_000) })) {
      const { conditions = [] } = ((object as KubeObject).status ?? {}) as { conditions?: { type: string }[] };
      if (conditions.some(({ type }) => type === 'Established')) break;
    }
    assert.equal((JSON.parse((await ask(client, { path: PATH })).text) as { metadata?: object }).metadata, undefined);
    assert.equal(running.backend.requests.length, 1);
    await client.resource(API_SERVICES).delete({ name: NAME });
    const own = JSON.parse((await ask(client, { path: PATH })).text) as { metadata?: object };
    assert.notEqual(own.metadata, undefined);
    assert.equal(running.backend.requests.length, 1);
  });

  test('a built-in group-version cannot be taken over', async () => {
    await using backend = await startBackend({ service: 'apps' });
    await using t = await startAggregating();
    t.backends.set('apps', backend);
    await t.server.client.resource(API_SERVICES).create({
      metadata: { name: 'v1.apps' },
      spec: {
        group: 'apps',
        version: 'v1',
        groupPriorityMinimum: 2000,
        versionPriority: 15,
        service: { namespace: 'default', name: 'apps' },
        insecureSkipTLSVerify: true,
      },
    });
    const { text } = await ask(t.server.client, { path: '/apis/apps/v1/deployments' });
    assert.equal((JSON.parse(text) as { kind: string }).kind, 'DeploymentList');
    assert.equal(backend.requests.length, 0);
  });
});

test('servers behind this one are told whose word about callers counts', async () => {
  await using t = await startAggregating();
  const ref = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
  const { data = {} } = await t.server.client.resource(CONFIG_MAPS).get(ref);
  assert.match(data['requestheader-client-ca-file'] ?? '', /^-----BEGIN CERTIFICATE-----/);
  assert.match(data['client-ca-file'] ?? '', /^-----BEGIN CERTIFICATE-----/);
  assert.deepEqual(
    Object.keys(data)
      .toSorted()
      .filter((key) => !key.endsWith('-ca-file'))
      .map((key) => [key, data[key]]),
    [
      ['requestheader-allowed-names', '["front-proxy-client"]'],
      ['requestheader-extra-headers-prefix', '["X-Remote-Extra-"]'],
      ['requestheader-group-headers', '["X-Remote-Group"]'],
      ['requestheader-uid-headers', '["X-Remote-Uid"]'],
      ['requestheader-username-headers', '["X-Remote-User"]'],
    ],
  );
});
