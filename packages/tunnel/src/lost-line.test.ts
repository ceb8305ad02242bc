import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createTunnelCounters } from './counters.ts';
import type { TunnelChange } from './hub/tunnel-hub.ts';
import { startLine } from './testing/start-line.ts';
import { closeOf, startTunnel, textOf, until } from './testing/start-tunnel.ts';
import { lineOf } from './wire/socket.ts';

const QUICK = { pingIntervalMs: 150, pingTimeoutMs: 150 };

test('a lost connection fails its requests at once, says why, and comes back by itself', async () => {
  await using tunnel = await startTunnel({
    handler: (request, response) => (request.url === '/watch' ? response.write('event') : response.end('ok')),
  });
  await using line = await startLine(tunnel.hubPort);
  const changes: TunnelChange[] = [];
  tunnel.hub.onChange((change) => changes.push(change));
  const counters = createTunnelCounters();
  const agent = await tunnel.startAgent('edge', {
    dial: (offer, signal) => tunnel.dial('edge', offer, signal, line.port),
    counters,
  });
  const transport = tunnel.hub.transport('edge');
  const watch = await transport.request({ method: 'GET', path: '/watch', long: true });
  const posted = transport
    .request({ method: 'POST', path: '/watch', body: '{}' })
    .then((response) => textOf(response.body));
  await until(() => counters.streams === 2);
  line.cut();
  await Promise.all([
    assert.rejects(textOf(watch.body), { code: 'ERR_TUNNEL_LOST', message: /"edge": the connection ended/ }),
    assert.rejects(posted, { code: 'ERR_TUNNEL_LOST' }),
  ]);
  await until(() => tunnel.hub.connected('edge'));
  assert.equal(await textOf((await transport.request({ method: 'GET', path: '/' })).body), 'ok');
  assert.deepEqual(
    changes.map(({ name, connected }) => [name, connected]),
    [
      ['edge', true],
      ['edge', false],
      ['edge', true],
    ],
  );
  assert.deepEqual(
    agent.states.map(({ state }) => state),
    ['connecting', 'connected', 'disconnected', 'connected'],
  );
  assert.ok((counters.ended.reset ?? 0) + (counters.ended.closed ?? 0) >= 2, JSON.stringify(counters.ended));
});

test('a safe request that is lost with one connection is sent again on another', async () => {
  const seen: string[] = [];
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      seen.push(request.method ?? '');
      if (seen.length > 1) response.end('second');
    },
  });
  await tunnel.startAgent('edge', { connections: { short: 2, long: 0 } });
  const answer = tunnel.hub.transport('edge').request({ method: 'GET', path: '/' });
  await until(() => seen.length === 1);
  const busy = tunnel.accepted.filter(({ offer }) => offer.kind === 'short');
  const carrier = busy.reduce((a, b) => (a.socket.bytesWritten > b.socket.bytesWritten ? a : b));
  carrier.socket.resetAndDestroy();
  assert.equal(await textOf((await answer).body), 'second');
});

test('a silent line is found by both ends, idle and spliced connections included, and left for a new one', async () => {
  const uploads: string[] = [];
  let upstreamClosed: Promise<unknown> | undefined;
  await using tunnel = await startTunnel({
    limits: QUICK,
    handler: (request, response) => {
      response.write('event');
      if (request.method === 'POST') request.resume().on('end', () => uploads.push('whole'));
      request.on('error', () => uploads.push('half'));
    },
    onUpgrade: (_request, socket) => {
      upstreamClosed = closeOf(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    },
  });
  await using line = await startLine(tunnel.hubPort);
  let port = line.port;
  const counters = createTunnelCounters();
  await tunnel.startAgent('edge', { dial: (offer, signal) => tunnel.dial('edge', offer, signal, port), counters });
  const transport = tunnel.hub.transport('edge');
  const watch = await transport.request({ method: 'GET', path: '/', long: true });
  const body = (async function* () {
    yield Buffer.from('half');
    await new Promise(() => {});
  })();
  const upload = await transport.request({ method: 'POST', path: '/', body });
  const pipe = await transport.upgrade({ method: 'GET', path: '/', headers: { upgrade: 'x' } });
  assert.ok('socket' in pipe);
  const pipeClosed = closeOf(pipe.socket);
  port = tunnel.hubPort;
  line.freeze();
  // The agent may find it first, and the hub then by the agent's new connections.
  const lost = { code: 'ERR_TUNNEL_LOST', message: /"edge".*\((dead|replaced)\)/ };
  await Promise.all([assert.rejects(textOf(watch.body), lost), assert.rejects(textOf(upload.body), lost), pipeClosed]);
  await upstreamClosed;
  await until(() => (counters.ended.dead ?? 0) >= 3 && uploads.length > 0);
  assert.ok(!uploads.includes('whole'));
  await until(() => tunnel.hub.connected('edge'));
  const { dead = 0, replaced = 0 } = tunnel.hub.counters('edge')?.ended ?? {};
  assert.ok(dead + replaced >= 3, `${dead} dead, ${replaced} replaced`);
});

test('a quiet line that works stays, and its round trip is known', async () => {
  await using tunnel = await startTunnel({ limits: { pingIntervalMs: 60, pingTimeoutMs: 300 } });
  const counters = createTunnelCounters();
  await tunnel.startAgent('edge', { counters });
  const started = performance.now();
  await until(() => performance.now() - started > 1_000);
  assert.deepEqual(counters.ended, {});
  assert.ok((counters.roundTripMs ?? 0) > 0 && (tunnel.hub.counters('edge')?.roundTripMs ?? 0) > 0);
});

test('half a body is never taken for a whole one when a process dies, in either direction', async () => {
  const uploads: string[] = [];
  let arrived = false;
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      if (request.method === 'GET') response.write('half');
      else {
        request.on('data', () => (arrived = true));
        request.on('end', () => uploads.push('whole')).on('error', () => uploads.push('half'));
      }
    },
  });
  const abort = new AbortController();
  const dialled: Socket[] = [];
  await tunnel.startAgent('edge', {
    dial: async (offer, signal) => {
      const carrier = await tunnel.dial('edge', offer, AbortSignal.any([signal, abort.signal]));
      dialled.push(lineOf(carrier) as Socket);
      return carrier;
    },
  });
  const transport = tunnel.hub.transport('edge');
  const endings: [string, (socket: Socket) => void][] = [
    ['end', (socket) => socket.end()],
    ['destroy', (socket) => socket.destroy()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ];
  for (const side of ['agent', 'hub'] as const) {
    for (const [how, end] of endings) {
      await until(() => tunnel.hub.counters('edge')?.connections.short === 1);
      uploads.length = 0;
      arrived = false;
      const download = await transport.request({ method: 'GET', path: '/' });
      const upload = transport.request({
        method: 'POST',
        path: '/',
        body: (async function* () {
          yield Buffer.from('half');
          await new Promise(() => {});
        })(),
      });
      const first = download.body[Symbol.asyncIterator]();
      await first.next();
      await until(() => arrived);
      const lost = Promise.all([
        assert.rejects(async () => first.next(), { code: 'ERR_TUNNEL_LOST' }, `${side} ${how}`),
        assert.rejects(upload, { code: 'ERR_TUNNEL_LOST' }, `${side} ${how}`),
      ]);
      const at = tunnel.accepted.findLastIndex(({ offer }) => offer.kind === 'short');
      const hubEnd = tunnel.accepted[at]?.socket as Socket;
      const agentEnd = dialled.find((socket) => socket.localPort === hubEnd.remotePort) as Socket;
      end(side === 'hub' ? hubEnd : agentEnd);
      await lost;
      await until(() => uploads.length > 0);
      assert.deepEqual(uploads, ['half'], `${side} ${how}`);
    }
  }
});
