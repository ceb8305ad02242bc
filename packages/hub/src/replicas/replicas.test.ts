import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { describe, test } from 'node:test';
import { readBody } from '@asterism/client';
import { TUNNEL_PROTOCOL } from '@asterism/tunnel';
import { TestReplica } from '../testing/test-replica.ts';
import { attachPath } from './held-tunnels.ts';
import { createReplica, replicaServerName } from './replica.ts';

const TIMEOUT = { timeout: 20_000 };

/** Three replicas that know each other. */
async function replicas(parts: AsyncDisposableStack, count: number): Promise<TestReplica[]> {
  const all = await Promise.all(Array.from({ length: count }, () => TestReplica.start()));
  for (const replica of all) {
    parts.use(replica);
    replica.knows(...all.filter((other) => other !== replica));
  }
  return all;
}

describe('replicas of a hub', TIMEOUT, () => {
  test('a call goes through whichever replica holds the tunnel, unchanged', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    parts.use(
      await holder.attach('edge/1', (request, response) => {
        response.writeHead(201, {
          'x-seen': `${request.method} ${request.url}`,
          'x-user': request.headers['impersonate-user'],
        });
        request.pipe(response);
      }),
    );
    await other.until('edge/1', true);
    assert.deepEqual(other.tunnels.names(), ['edge/1']);
    const transport = other.tunnels.transport('edge/1');
    const sent = Buffer.alloc(3_000_000, 'asterism');
    const headers = { 'impersonate-user': 'somebody' };
    const response = await transport.request({ method: 'POST', path: '/api/v1/a%2Fb?x=1&x=2', headers, body: sent });
    assert.equal(response.status, 201);
    assert.equal(response.headers['x-seen'], 'POST /api/v1/a%2Fb?x=1&x=2');
    assert.equal(response.headers['x-user'], 'somebody');
    assert.ok((await readBody(response.body, 'edge/1')).equals(sent));
  });

  test('so does one to a destination, which is no path', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const echo = (socket: Duplex, { url }: IncomingMessage): void => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.resume().on('end', () => socket.end(url));
    };
    parts.use(await holder.attach('edge-1', ({ url }, response) => response.end(url), echo));
    await other.until('edge-1', true);
    const transport = other.tunnels.transport('edge-1');
    for (const path of ['//https/registry.corp:443/v2/?n=1', '//http/[::1]:80//a%2Fb']) {
      const { body } = await transport.request({ method: 'GET', path });
      assert.equal((await readBody(body, 'edge-1')).toString(), path);
      const headers = { connection: 'Upgrade', upgrade: 'echo' };
      const answer = await transport.upgrade({ method: 'GET', path, headers });
      assert.ok('socket' in answer);
      answer.socket.end();
      assert.equal((await readBody(answer.socket, 'edge-1')).toString(), path);
    }
  });

  test('an upgrade too, with each half closed by itself', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const echo = (socket: Duplex): void => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => socket.end(Buffer.concat([...chunks, Buffer.from('!')])));
    };
    parts.use(await holder.attach('edge-1', () => {}, echo));
    await other.until('edge-1', true);
    const headers = { connection: 'Upgrade', upgrade: 'echo' };
    const answer = await other.tunnels.transport('edge-1').upgrade({ method: 'GET', path: '/exec', headers });
    assert.ok('socket' in answer);
    answer.socket.end('all of it');
    assert.equal((await readBody(answer.socket, 'edge-1')).toString(), 'all of it!');
  });

  test('a caller that leaves ends the call at the member', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const left = Promise.withResolvers<void>();
    parts.use(
      await holder.attach('edge-1', (_, response) => {
        response.write('{}\n');
        response.on('close', () => left.resolve());
      }),
    );
    await other.until('edge-1', true);
    const { body } = await other.tunnels.transport('edge-1').request({ method: 'GET', path: '/watch', long: true });
    await once(body, 'data');
    body.destroy();
    await left.promise;
  });

  test('an agent that goes to another replica is found there; listeners hear of what is new for all of them', async () => {
    await using parts = new AsyncDisposableStack();
    const [first, second, third] = (await replicas(parts, 3)) as [TestReplica, TestReplica, TestReplica];
    const heard: boolean[] = [];
    third.tunnels.onChange(({ connected }) => heard.push(connected));
    const transport = third.tunnels.transport('edge-1');
    for (const replica of [first, second, third]) {
      await using _agent = await replica.attach('edge-1', (_, response) => response.end('here'));
      await third.until('edge-1', true);
      const { body } = await transport.request({ method: 'GET', path: '/' });
      assert.equal((await readBody(body, 'edge-1')).toString(), 'here');
      await _agent[Symbol.asyncDispose]();
      await Promise.all([first, second, third].map((each) => each.until('edge-1', false)));
    }
    await assert.rejects(transport.request({ method: 'GET', path: '/' }), { code: 'ERR_TUNNEL_NOT_CONNECTED' });
    assert.deepEqual(heard, [true, false, true, false, true, false]);
  });

  test('a call waits for a tunnel that another replica has just lost', async () => {
    await using parts = new AsyncDisposableStack();
    const [first, second] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const transport = second.tunnels.transport('edge-1');
    const answer = async (): Promise<string> => {
      const { body } = await transport.request({ method: 'GET', path: '/' });
      return (await readBody(body, 'edge-1')).toString();
    };
    const agent = await first.attach('edge-1', (_, response) => response.end('before'));
    await second.until('edge-1', true);
    assert.equal(await answer(), 'before');
    await agent[Symbol.asyncDispose]();
    await second.until('edge-1', false);
    const waiting = answer();
    parts.use(await first.attach('edge-1', (_, response) => response.end('after')));
    assert.equal(await waiting, 'after');
  });

  test('connections of one agent that come to several replicas end at one of them', async () => {
    await using parts = new AsyncDisposableStack();
    const all = await replicas(parts, 3);
    const [, second, third] = all as [TestReplica, TestReplica, TestReplica];
    const onUpgrade = (socket: Duplex): void => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    };
    const handler: RequestListener = (request, response) => void request.pipe(response);
    const agent = await TestReplica.attach('edge-1', all, { handler, onUpgrade });
    parts.use(agent);
    await Promise.all(all.map((replica) => replica.until('edge-1', true)));
    const transport = second.tunnels.transport('edge-1');
    const headers = { connection: 'Upgrade', upgrade: 'echo' };
    // As many at once as it has not dialled yet: the pool is filled by connections that come to any of them.
    const texts = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const answer = await transport.upgrade({ method: 'GET', path: '/exec', headers });
        assert.ok('socket' in answer);
        answer.socket.end(`stream ${index}`);
        return (await readBody(answer.socket, 'edge-1')).toString();
      }),
    );
    assert.deepEqual(
      texts,
      texts.map((_, index) => `stream ${index}`),
    );
    const body = Buffer.alloc(1_000_000, 'x');
    const { body: answer } = await third.tunnels.transport('edge-1').request({ method: 'POST', path: '/', body });
    assert.ok((await readBody(answer, 'edge-1')).equals(body));
    const ends = (): number => all.filter((replica) => replica.held('edge-1') > 0).length;
    while (ends() !== 1)
      await transport.request({ method: 'GET', path: '/' }).then(({ body }) => readBody(body, 'edge-1'));
  });

  test('a connection that is brought begins no tunnel: none slips in behind a cut', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const agent = await holder.attach('edge-1', () => {});
    await other.until('edge-1', true);
    const offer = { kind: 'upgrade', instance: 'a', slot: 99 } as const;
    const headers = { connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL };
    const bring = () =>
      other.links.hub.transport(holder.self.id).upgrade({ method: 'POST', path: attachPath('edge-1', offer), headers });
    const taken = await bring();
    assert.ok('socket' in taken);
    taken.socket.destroy();
    await agent[Symbol.asyncDispose]();
    await holder.until('edge-1', false);
    const held = holder.held('edge-1');
    await assert.rejects(bring(), { code: 'ERR_TUNNEL_NOT_CONNECTED' });
    assert.equal(holder.held('edge-1'), held);
  });

  test('calls on a connection that was brought are finished before the replica stops that it came to', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const dialled = [holder];
    const release = Promise.withResolvers<void>();
    const handler: RequestListener = (_, response) => {
      response.write('begun ');
      void release.promise.then(() => response.end('ended'));
    };
    parts.use(await TestReplica.attach('edge-1', dialled, { handler }));
    await other.until('edge-1', true);
    dialled[0] = other;
    const calls: Promise<string>[] = [];
    const call = async (): Promise<void> => {
      const { body } = await holder.tunnels.transport('edge-1').request({ method: 'GET', path: '/' });
      calls.push(readBody(body, 'edge-1').then(String));
    };
    const before = holder.held('edge-1');
    // Until so many run that the agent dials another connection, which the next call takes.
    while (holder.held('edge-1') === before) await call();
    await call();
    dialled[0] = holder;
    const stopped = other.tunnels.drain().then(() => other[Symbol.asyncDispose]());
    await call();
    release.resolve();
    await stopped;
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['begun ended']));
  });

  test('a replica that is gone takes its tunnels with it, and calls through it fail', async () => {
    await using parts = new AsyncDisposableStack();
    const [holder, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const asked = Promise.withResolvers<void>();
    parts.use(await holder.attach('edge-1', () => asked.resolve()));
    await other.until('edge-1', true);
    const call = other.tunnels.transport('edge-1').request({ method: 'POST', path: '/', body: 'once' });
    await asked.promise;
    other.knows();
    await assert.rejects(call, { code: 'ERR_TUNNEL_LOST' });
    assert.equal(other.tunnels.connected('edge-1'), false);
    assert.deepEqual(other.tunnels.names(), []);
  });

  test('nobody but a replica that is known gets as far as HTTP', async () => {
    await using parts = new AsyncDisposableStack();
    const [one] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    const stranger = await createReplica({ host: '127.0.0.1', port: 1 });
    const { host, port, ca, id } = one.self;
    const server = { host, port, ca, servername: replicaServerName(id) };
    for (const keys of [{}, stranger.keys]) {
      assert.equal(await answerTo(connect({ ...server, ...keys })), '');
    }
  });

  test('a replica that is known no more is let in no more', async () => {
    await using parts = new AsyncDisposableStack();
    const [one, other] = (await replicas(parts, 2)) as [TestReplica, TestReplica];
    parts.use(await other.attach('edge-1', () => {}));
    await one.until('edge-1', true);
    one.knows();
    assert.equal(one.tunnels.connected('edge-1'), false);
    const { host, port, ca, id } = one.self;
    const server = { host, port, ca, servername: replicaServerName(id) };
    assert.equal(await answerTo(connect({ ...server, ...other.self.keys })), '');
    assert.match(await answerTo(connect({ ...server, ...one.self.keys })), /^HTTP\/1.1 404/);
  });
});

/** What is answered to a request before the connection ends. */
async function answerTo(socket: TLSSocket): Promise<string> {
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.on('error', () => {});
  socket.write('GET /link HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
