import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { createTunnelCounters } from './counters.ts';
import { createHttpTarget } from './testing/http-target.ts';
import { startLine } from './testing/start-line.ts';
import { startTunnel, TunnelFixture, textOf, until } from './testing/start-tunnel.ts';

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
