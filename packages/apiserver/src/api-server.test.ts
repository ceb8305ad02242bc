import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { createClient } from '@asterism/client';
import { CONFIG_MAPS, NAMESPACES, NODES, PODS } from '@asterism/machinery';
import { createApiServer } from './api-server.ts';
import type { ApiExtension, ExtensionContext } from './http/extension/api-extension.ts';
import { createMemoryStorage } from './storage/memory-storage.ts';
import { StorageError } from './storage/storage-error.ts';
import { startTestServer } from './testing/index.ts';

const root = { username: 'root', groups: ['system:masters'] };

test('a server stops at once: watches end, HTTP/2 clients are told, nothing listens any more', async () => {
  const server = await startTestServer();
  const token = server.tokenFor(root);
  const session = http2.connect(server.url, { ca: server.ca.cert });
  const goaway = once(session, 'goaway');
  const path = '/api/v1/namespaces?watch=1';
  const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
  await once(stream, 'response');
  stream.resume();
  const ended = once(stream, 'end');
  const started = performance.now();
  await Promise.all([server.server.stop(), ended, goaway]);
  assert.ok(performance.now() - started < 1000);
  session.destroy();
  await assert.rejects(server.client.version(), { code: 'ECONNREFUSED' });
  await server.stop();
});

for (const phase of ['before it is answered', 'in the middle of its answer']) {
  test(`a call by way of a proxy that has an end of its own finishes, stopped ${phase}`, async () => {
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const pause = (at: boolean): Promise<void> => {
      if (at) reached.resolve();
      return at ? release.promise : Promise.resolve();
    };
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('fi');
      await pause(phase !== 'before it is answered');
      yield Buffer.from('ne');
    }
    const proxies: ApiExtension = {
      group: 'example.com',
      version: 'v1',
      resources: [
        {
          resource: 'ways',
          singular: 'way',
          kind: 'Way',
          verbs: [],
          namespaced: false,
          subresources: [{ name: 'proxy', kind: 'Way', verbs: ['get'] }],
          authorization: 'rbac',
          async handle({ request }) {
            await pause(phase === 'before it is answered');
            request.signal.throwIfAborted();
            return { status: 200, headers: {}, body: pieces(), openEnded: false };
          },
        },
      ],
    };
    await using server = await startTestServer({ extensions: [proxies] });
    const session = http2.connect(server.url, { ca: server.ca.cert });
    const path = '/apis/example.com/v1/ways/a/proxy';
    const answer = text(session.request({ ':path': path, authorization: `Bearer ${server.tokenFor(root)}` }));
    await reached.promise;
    const stopped = server.server.stop();
    setImmediate(release.resolve);
    assert.equal(await answer, 'fine');
    await stopped;
    session.destroy();
  });
}

test('a server without a wire is used within its process', async () => {
  await using server = createApiServer({ storage: createMemoryStorage(), controllers: false });
  await server.start();
  const client = createClient({ transport: server.transport(root) });
  const created = await client.resource(CONFIG_MAPS).create({ metadata: { name: 'a', namespace: 'default' } });
  assert.ok(created.metadata?.uid);
  const nobody = createClient({ transport: server.transport({ username: 'nobody', groups: [] }) });
  await assert.rejects(nobody.resource(NAMESPACES).list(), {
    message:
      'namespaces is forbidden: User "nobody" cannot list resource "namespaces" in API group "" at the cluster scope',
  });
});

test('a watch within the process streams, and ends when its caller aborts', async () => {
  await using server = createApiServer({ storage: createMemoryStorage(), controllers: false });
  await server.start();
  const maps = createClient({ transport: server.transport(root) }).resource(CONFIG_MAPS);
  const end = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of maps.watch({ namespace: 'default', signal: end.signal })) {
      if (event.type === 'ADDED') seen.push(event.object.metadata?.name ?? '');
      if (seen.length === 2) end.abort();
    }
  })();
  await maps.create({ metadata: { name: 'one', namespace: 'default' } });
  await maps.create({ metadata: { name: 'two', namespace: 'default' } });
  await watching.catch((error: unknown) => assert.ok(end.signal.aborted, String(error)));
  assert.deepEqual(seen, ['one', 'two']);
});

test('a client that never finishes its TLS handshake does not hold a stop up', async () => {
  const { server, url } = await startTestServer();
  const { hostname, port } = new URL(url);
  const silent = connect(Number(port), hostname);
  await once(silent, 'connect');
  // A whole request of somebody else: by then the server has taken the silent one too.
  await rawHandshake(Number(port), hostname);
  const closed = once(silent, 'close');
  silent.on('error', () => {});
  const started = performance.now();
  await server.stop();
  await closed;
  assert.ok(performance.now() - started < 5_000, 'it waited for the handshake to time out');
});

/** A TLS connection, made and ended. */
async function rawHandshake(port: number, host: string): Promise<void> {
  const socket = connectTls({ port, host, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.destroy();
}

test('before the start and after the stop every request is answered 503', async () => {
  const server = createApiServer({ storage: createMemoryStorage(), controllers: false });
  const client = createClient({ transport: server.transport(root) });
  const status = async () => (await client.request({ method: 'GET', path: '/version' })).status;
  assert.equal(await status(), 503);
  await server.start();
  assert.equal(await status(), 200);
  await server.stop();
  assert.equal(await status(), 503);
});

test('what cannot be started is stopped again', async () => {
  await using first = await startTestServer();
  const port = Number(new URL(first.url).port);
  await assert.rejects(startTestServer({ listen: { host: '127.0.0.1', port } }), { code: 'EADDRINUSE' });
});

test('more requests than may wait are sent away with the time to come back', async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered = (): void => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const slow = extension('handler', async () => {
    entered();
    await gate;
    return { status: 200, headers: {} };
  });
  await using server = await startTestServer({ maxInFlight: 1, extensions: [slow] });
  const client = server.clientAs({ username: 'alice', groups: [] });
  const first = client.request({ method: 'GET', path: '/apis/example.com/v1/things/a' });
  await inside;
  const second = client.request({ method: 'GET', path: '/version' });
  const third = await client.request({ method: 'GET', path: '/version' });
  assert.deepEqual([third.status, third.headers['retry-after']], [429, '1']);
  third.body.resume();
  const admin = await server.client.request({ method: 'GET', path: '/version' });
  assert.equal(admin.status, 200);
  admin.body.resume();
  release();
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
});

function extension(
  authorization: 'rbac' | 'handler',
  handle: (context: ExtensionContext) => Promise<{ status: number; headers: Record<string, string> }>,
): ApiExtension {
  return {
    group: 'example.com',
    version: 'v1',
    resources: [
      {
        resource: 'things',
        singular: 'thing',
        kind: 'Thing',
        namespaced: false,
        verbs: ['get', 'list'],
        subresources: [{ name: 'proxy', kind: 'Thing', verbs: ['get'] }],
        authorization,
        handle,
        upgrade: echoUpgrade,
      },
    ],
  };
}

async function echoUpgrade(_context: ExtensionContext, socket: Duplex, head: Buffer): Promise<void> {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n');
  if (head.length > 0) socket.write(head);
  socket.pipe(socket);
  await Promise.resolve();
}

test('an extension is told what is asked, by whom, and nothing of his credentials', async () => {
  const contexts: ExtensionContext[] = [];
  const record = extension('rbac', (context) => {
    contexts.push(context);
    return Promise.resolve({ status: 204, headers: {} });
  });
  await using server = await startTestServer({ extensions: [record] });
  const path = '/apis/example.com/v1/things/a/proxy/x%2Fy/?q=1';
  const headers = {
    'impersonate-user': 'carol',
    'impersonate-group': 'system:masters',
    'x-remote-user': 'root',
    'x-mine': '1',
  };
  const response = await server.client.request({ method: 'GET', path, headers });
  response.body.resume();
  assert.equal(response.status, 204);
  const [context] = contexts;
  assert.deepEqual(
    [context?.verb, context?.name, context?.subresource, context?.rest, context?.user.username],
    ['get', 'a', 'proxy', '/x%2Fy/', 'carol'],
  );
  assert.equal(context?.request.query.get('q'), '1');
  assert.equal(context?.request.headers['x-mine'], '1');
  assert.deepEqual(
    Object.keys(context?.request.headers ?? {}).filter((name) => /^(authorization|impersonate|x-remote)/.test(name)),
    [],
  );
  assert.equal((await context!.authorize({ verb: 'get', group: '', resource: 'pods' })).allowed, true);
  const bob = { username: 'bob', groups: [] };
  assert.equal((await context!.authorize({ verb: 'get', group: '', resource: 'pods', user: bob })).allowed, false);
});

test('an extension with `rbac` is shut to those without a role, with `handler` it decides itself', async () => {
  const answer = () => Promise.resolve({ status: 200, headers: {} });
  const alice = { username: 'alice', groups: [] };
  for (const [authorization, status] of [
    ['rbac', 403],
    ['handler', 200],
  ] as const) {
    await using server = await startTestServer({ extensions: [extension(authorization, answer)] });
    const response = await server.clientAs(alice).request({ method: 'GET', path: '/apis/example.com/v1/things/a' });
    response.body.resume();
    assert.equal(response.status, status);
  }
});

test('an extension added to a running server is in discovery, once', async () => {
  await using server = await startTestServer();
  const added = extension('rbac', () => Promise.resolve({ status: 200, headers: {} }));
  server.server.addExtension(added);
  const found = await server.client.discovery.find('things');
  assert.deepEqual([found.group, found.kind, found.verbs], ['example.com', 'Thing', ['get', 'list']]);
  assert.throws(() => server.server.addExtension(added), /example.com\/v1 is served by an extension already/);
});

test('an Upgrade reaches its extension, over the wire and within the process', async () => {
  const answer = () => Promise.resolve({ status: 200, headers: {} });
  await using server = await startTestServer({ extensions: [extension('rbac', answer)] });
  const upgrade = {
    method: 'GET',
    path: '/apis/example.com/v1/things/a/proxy',
    headers: { connection: 'Upgrade', upgrade: 'echo' },
  };
  for (const transport of [server.client.transport, server.server.transport(root)]) {
    const response = await transport.upgrade(upgrade);
    assert.ok('socket' in response);
    response.socket.write('hello');
    const [echoed] = (await once(response.socket, 'data')) as [Buffer];
    assert.equal(echoed.toString(), 'hello');
    response.socket.destroy();
  }
});

test('an Upgrade without the right to it is answered 403', async () => {
  const answer = () => Promise.resolve({ status: 200, headers: {} });
  await using server = await startTestServer({ extensions: [extension('rbac', answer)] });
  const alice = { username: 'alice', groups: [] };
  const upgrade = {
    method: 'GET',
    path: '/apis/example.com/v1/things/a/proxy',
    headers: { connection: 'Upgrade', upgrade: 'echo' },
  };
  for (const transport of [server.clientAs(alice).transport, server.server.transport(alice)]) {
    const response = await transport.upgrade(upgrade);
    assert.equal(response.status, 403);
    if ('body' in response) response.body.destroy();
  }
});

test('logs and the like go to their backend, and are answered 501 where there is none', async () => {
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  const pod = { metadata: { name: 'p', namespace: 'default' }, spec };
  const path = '/api/v1/namespaces/default/pods/p/log?tailLines=1';
  const handle = ({ name, request }: ExtensionContext) =>
    Promise.resolve({ status: 200, headers: {}, body: Buffer.from(`${name} ${request.query.get('tailLines')}`) });
  const log = { group: '', resource: 'pods', subresource: 'log', handle };
  for (const [connects, status, text] of [
    [[log], 200, 'p 1'],
    [[], 501, ''],
  ] as const) {
    await using server = await startTestServer({ connects: [...connects] });
    await server.client.resource(NODES).create({ metadata: { name: 'n' } });
    await server.client.resource(PODS).create(pod);
    const response = await server.client.request({ method: 'GET', path });
    const [first] = (await once(response.body, 'data')) as [Buffer];
    assert.equal(response.status, status);
    assert.ok(first.toString().includes(text));
    const denied = await server.clientAs({ username: 'alice', groups: [] }).request({ method: 'GET', path });
    denied.body.resume();
    assert.equal(denied.status, 403);
  }
});

test('a server whose storage writes no more is not well, so that whoever watches over it restarts it', async () => {
  const storage = createMemoryStorage();
  await using server = createApiServer({ storage, controllers: false });
  await server.start();
  const transport = server.transport(root);
  const ask = async (path: string): Promise<number> => {
    const { status, body } = await transport.request({ method: 'GET', path });
    body.resume();
    return status;
  };
  assert.deepEqual([await ask('/livez'), await ask('/readyz')], [200, 200]);
  storage.write = () => Promise.reject(new StorageError('FAILED', 'the disk failed'));
  assert.deepEqual([await ask('/livez'), await ask('/readyz')], [500, 500]);
  assert.equal(await ask('/livez?exclude=etcd'), 200);
});
