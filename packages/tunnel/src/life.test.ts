import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { createTunnelCounters } from './counters.ts';
import type { TunnelChange } from './hub/tunnel-hub.ts';
import { createHttpTarget } from './testing/http-target.ts';
import { startLine } from './testing/start-line.ts';
import { closeOf, startTunnel, TunnelFixture, textOf } from './testing/start-tunnel.ts';
import { TunnelError } from './tunnel-error.ts';
import type { ConnectionOffer } from './wire/connection-offer.ts';
import { lineOf } from './wire/socket.ts';

const QUICK = { pingIntervalMs: 150, pingTimeoutMs: 150 };

test('while no agent is connected a call fails at once and names the agent', async () => {
  await using tunnel = await startTunnel();
  const transport = tunnel.hub.transport('edge-1');
  const expected = {
    code: 'ERR_TUNNEL_NOT_CONNECTED',
    statusCode: 503,
    message: /tunnel to "edge-1": no agent is connected/,
  };
  await assert.rejects(transport.request({ method: 'GET', path: '/' }), expected);
  await assert.rejects(transport.upgrade({ method: 'GET', path: '/', headers: { upgrade: 'x' } }), expected);
  assert.deepEqual([tunnel.hub.connected('edge-1'), tunnel.hub.names()], [false, []]);
});

test('both ends count what they carry over WebSocket', async () => {
  await using tunnel = await startTunnel();
  const counters = createTunnelCounters();
  const agent = await tunnel.startAgent('edge', { counters, connections: { short: 2, long: 1, upgrade: 1 } });
  const expected = tunnel.carrier === 'websocket' ? 4 : 0;
  assert.deepEqual([counters.overWebSocket, tunnel.hub.counters('edge')?.overWebSocket], [expected, expected]);
  agent.stop();
  await agent.done;
  assert.equal(counters.overWebSocket, 0);
});

test('agents are told apart by the name that was accepted', async () => {
  await using tunnel = await startTunnel();
  for (const name of ['one', 'two']) {
    await tunnel.startAgent(name, {
      target: { ...tunnel.target, request: () => Promise.reject(new Error(`target of ${name}`)) },
    });
  }
  await assert.rejects(tunnel.hub.transport('one').request({ method: 'GET', path: '/' }), /"one".*target of one/);
  await assert.rejects(tunnel.hub.transport('two').request({ method: 'GET', path: '/' }), /"two".*target of two/);
  assert.deepEqual(tunnel.hub.names().sort(), ['one', 'two']);
});

test('short and long requests go over connections of their own, and over another where theirs is missing', async () => {
  await using tunnel = await startTunnel({ handler: (_request, response) => response.end('ok') });
  let dials = 0;
  await tunnel.startAgent('edge', {
    connections: { short: 2, long: 1 },
    dial: (offer, signal) => {
      if (offer.kind !== 'long' || ++dials === 1) return tunnel.dial('edge', offer, signal);
      return Promise.reject(new Error('no second one'));
    },
  });
  const used = async (long: boolean): Promise<string> => {
    const before = tunnel.accepted.map(({ socket }) => socket.bytesWritten);
    await textOf((await tunnel.hub.transport('edge').request({ method: 'GET', path: '/', long })).body);
    return tunnel.accepted
      .filter(({ socket }, i) => socket.bytesWritten !== before[i])
      .map(({ offer }) => offer.kind)
      .join();
  };
  assert.deepEqual([await used(false), await used(true)], ['short', 'long']);
  for (const { offer, socket } of tunnel.accepted) if (offer.kind === 'long') socket.resetAndDestroy();
  await until(() => tunnel.hub.counters('edge')?.connections.long === 0);
  assert.equal(await used(true), 'short');
});

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

test('a newer connection takes the place of an older one of the same slot, which may be half open', async () => {
  await using tunnel = await startTunnel({ handler: (_request, response) => response.end('ok') });
  await using line = await startLine(tunnel.hubPort);
  await tunnel.startAgent('edge', {
    instance: 'same',
    dial: (offer, signal) => tunnel.dial('edge', offer, signal, line.port),
  });
  line.freeze();
  await tunnel.startAgent('edge', { instance: 'same' });
  assert.equal(tunnel.hub.counters('edge')?.ended.replaced, 2, 'the short and the long one');
  assert.equal((await tunnel.hub.transport('edge').request({ method: 'GET', path: '/' })).status, 200);
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

test('of two instances the newer serves, and the older again when that is gone', async () => {
  await using tunnel = await startTunnel();
  const target = (name: string) => ({ ...tunnel.target, request: () => Promise.reject(new Error(`instance ${name}`)) });
  const ask = () => tunnel.hub.transport('edge').request({ method: 'GET', path: '/' });
  await tunnel.startAgent('edge', { target: target('old') });
  await assert.rejects(ask(), /instance old/);
  const newer = await tunnel.startAgent('edge', { target: target('new') });
  await assert.rejects(ask(), /instance new/);
  newer.stop();
  await newer.done;
  await assert.rejects(ask(), /instance old/);
});

test('a draining agent finishes short requests, ends long ones, and takes no more', async () => {
  let answer: (() => void) | undefined;
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      if (request.url === '/watch') response.write('event');
      else answer = () => response.end('finished');
    },
  });
  const agent = await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  const watch = await transport.request({ method: 'GET', path: '/watch', long: true });
  const short = transport.request({ method: 'POST', path: '/short', body: 'x' });
  await until(() => answer !== undefined);
  agent.stop();
  await assert.rejects(textOf(watch.body), { code: 'ERR_TUNNEL_LOST', message: /drained/ });
  await until(() => !tunnel.hub.connected('edge'));
  await assert.rejects(transport.request({ method: 'GET', path: '/' }), { code: 'ERR_TUNNEL_NOT_CONNECTED' });
  answer?.();
  assert.equal(await textOf((await short).body), 'finished');
  await agent.done;
  assert.deepEqual(agent.states.map(({ state }) => state).slice(-2), ['draining', 'closed']);
  assert.deepEqual(tunnel.hub.counters('edge')?.connections, { short: 0, long: 0, upgrade: 0 });
  assert.equal(tunnel.hub.counters('edge')?.overWebSocket, 0);
});

test('a drain does not wait for ever', async () => {
  let seen = false;
  await using tunnel = await startTunnel({ handler: () => (seen = true), limits: { drainTimeoutMs: 100 } });
  const agent = await tunnel.startAgent('edge');
  const hanging = tunnel.hub.transport('edge').request({ method: 'POST', path: '/', body: '' });
  await until(() => seen);
  agent.stop();
  await assert.rejects(hanging, { code: 'ERR_TUNNEL_LOST' });
  await agent.done;
});

test('a draining hub finishes short requests, ends long ones, and the agents go elsewhere', async () => {
  let answer: (() => void) | undefined;
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      if (request.url === '/watch') response.write('event');
      else answer = () => response.end('finished');
    },
  });
  await using other = await startTunnel();
  const hubs = [tunnel, other];
  await tunnel.startAgent('edge', {
    dial: (offer, signal) => (hubs[0] as TunnelFixture).dial('edge', offer, signal),
  });
  const transport = tunnel.hub.transport('edge');
  const watch = await transport.request({ method: 'GET', path: '/watch', long: true });
  const short = transport.request({ method: 'POST', path: '/short', body: 'x' });
  await until(() => answer !== undefined);
  hubs.shift();
  const drained = tunnel.hub.drain();
  await assert.rejects(textOf(watch.body), { code: 'ERR_TUNNEL_CLOSED' });
  await until(() => other.hub.connected('edge'));
  answer?.();
  assert.equal(await textOf((await short).body), 'finished');
  await drained;
  assert.deepEqual(tunnel.hub.names(), []);
});

test('disconnect cuts an agent off at once', async () => {
  await using tunnel = await startTunnel({ handler: (_request, response) => response.write('event') });
  let allowed = true;
  const dial = (offer: ConnectionOffer, signal: AbortSignal) =>
    allowed ? tunnel.dial('edge', offer, signal) : Promise.reject(new TunnelError('REFUSED', 'revoked'));
  const agent = await tunnel.startAgent('edge', { dial });
  const watch = await tunnel.hub.transport('edge').request({ method: 'GET', path: '/', long: true });
  allowed = false;
  tunnel.hub.disconnect('edge', 'it left');
  assert.equal(tunnel.hub.connected('edge'), false);
  await assert.rejects(textOf(watch.body), { code: 'ERR_TUNNEL_LOST', message: /disconnected/ });
  await until(() => agent.states.some(({ reason }) => reason === 'revoked'));
  const told = agent.states.find(({ reason }) => reason === 'revoked');
  assert.ok((told?.retryInMs ?? 0) >= 50, 'after a refusal it waits longer');
});

test('an agent that starts before its hub, or loses it, connects when it comes', async () => {
  const reserved = createServer().listen(0, '127.0.0.1');
  await once(reserved, 'listening');
  const port = (reserved.address() as { port: number }).port;
  reserved.close();
  await once(reserved, 'close');

  await using first = new TunnelFixture({});
  let hub = first;
  const agent = await first.startAgent('edge', {
    target: createHttpTarget(port),
    dial: (offer, signal) => hub.dial('edge', offer, signal, port),
  });
  await until(() => agent.states.some(({ state }) => state === 'disconnected'));
  assert.match(agent.states.find(({ state }) => state === 'disconnected')?.reason ?? '', /ECONNREFUSED/);
  await first.listen(port);
  await until(() => first.hub.connected('edge'));
  await first.stopListening();
  await until(() => agent.states.at(-1)?.state === 'disconnected');

  await using second = new TunnelFixture({});
  hub = second;
  await second.listen(port);
  await until(() => second.hub.connected('edge'));
});
