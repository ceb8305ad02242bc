import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTunnel, TunnelFixture, textOf, until } from './testing/start-tunnel.ts';
import { TunnelError } from './tunnel-error.ts';
import type { ConnectionOffer } from './wire/connection-offer.ts';

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
