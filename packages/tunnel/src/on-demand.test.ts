import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { DEFAULT_CONNECTIONS } from './agent/run-tunnel-agent.ts';
import { execSocket, SWITCH } from './testing/exec.ts';
import { startTunnel, type TunnelFixture, type TunnelFixtureOptions } from './testing/start-tunnel.ts';

const WATCH = { method: 'GET', path: '/watch', long: true };

/** A hub with one agent, `edge`, which keeps what agents keep by default. */
async function startAtRest(options: TunnelFixtureOptions): Promise<TunnelFixture> {
  const tunnel = await startTunnel(options);
  await tunnel.startAgent('edge', { connections: DEFAULT_CONNECTIONS });
  return tunnel;
}

function connectionsOf(tunnel: TunnelFixture): unknown {
  return tunnel.hub.counters('edge')?.connections;
}

function stand(tunnel: TunnelFixture, wanted: { short: number; long: number; upgrade: number }): Promise<void> {
  return until(() => JSON.stringify(connectionsOf(tunnel)) === JSON.stringify(wanted));
}

test('an agent at rest keeps one connection; one for long calls comes with the first of them, and goes when none is left', async () => {
  await using tunnel = await startAtRest({
    handler: (_request, response) => response.write('event'),
    limits: { spareIdleMs: 200 },
  });
  const transport = tunnel.hub.transport('edge');
  assert.deepEqual(connectionsOf(tunnel), { short: 1, long: 0, upgrade: 0 });
  const first = await transport.request(WATCH);
  await stand(tunnel, { short: 1, long: 1, upgrade: 0 });
  const before = tunnel.accepted.map(({ socket }) => socket.bytesWritten);
  const second = await transport.request(WATCH);
  const grown = tunnel.accepted.filter(({ socket }, i) => socket.bytesWritten > (before[i] ?? 0));
  assert.deepEqual(
    grown.map(({ offer }) => offer.kind),
    ['long'],
  );
  for (const watch of [first, second]) watch.body.destroy();
  await stand(tunnel, { short: 1, long: 0, upgrade: 0 });
});

test('where watches ran, the connection for them comes back first', async () => {
  await using tunnel = await startAtRest({ handler: (_request, response) => response.write('event') });
  const watch = await tunnel.hub.transport('edge').request(WATCH);
  watch.body.on('error', () => {});
  await stand(tunnel, { short: 1, long: 1, upgrade: 0 });
  const stood = tunnel.accepted.length;
  for (const { socket } of tunnel.accepted) socket.resetAndDestroy();
  await until(() => tunnel.accepted.length === stood + 2);
  assert.equal(tunnel.accepted[stood]?.offer.kind, 'long');
});

test('byte pipes come when they are asked for, and go when nobody takes them any more', async () => {
  await using tunnel = await startAtRest({
    onUpgrade: (_request, socket) => socket.write(SWITCH),
    limits: { spareIdleMs: 200 },
  });
  const transport = tunnel.hub.transport('edge');
  const sockets = await Promise.all(Array.from({ length: 7 }, () => execSocket(transport)));
  for (const socket of sockets) socket.destroy();
  await stand(tunnel, { short: 1, long: 0, upgrade: 0 });
  (await execSocket(transport)).destroy();
});

test('a hub whose question for a byte pipe was lost with its connection asks again', async () => {
  let pipes = 0;
  await using tunnel = await startTunnel({ onUpgrade: (_request, socket) => socket.write(SWITCH) });
  await tunnel.startAgent('edge', {
    connections: { short: 2, long: 0, upgrade: { atRest: 0, most: 4 } },
    dial: async (offer, signal) => {
      // What was asked over the first connection comes to nothing.
      if (offer.kind === 'upgrade' && ++pipes === 1) {
        tunnel.accepted[0]?.socket.resetAndDestroy();
        throw new Error('lost');
      }
      return await tunnel.dial('edge', offer, signal);
    },
  });
  (await execSocket(tunnel.hub.transport('edge'))).destroy();
  assert.ok(pipes >= 2);
});
