import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { startTunnel } from './testing/start-tunnel.ts';
import { breakSocket } from './wire/socket.ts';

/** Ends that do not speak the protocol. */
const STRANGERS: [string, (socket: Duplex) => void][] = [
  ['says nothing', () => {}],
  ['ends', (socket) => socket.end()],
  ['resets', breakSocket],
  ['speaks another protocol', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
  ['sends garbage frames', (socket) => socket.write(Buffer.alloc(5_000, 0xff))],
];

for (const [name, misbehave] of STRANGERS) {
  test(`a hub gets rid of an agent that ${name}`, async () => {
    await using tunnel = await startTunnel({
      limits: { handshakeTimeoutMs: 100, pingIntervalMs: 50, pingTimeoutMs: 50 },
    });
    for (const kind of ['short', 'upgrade'] as const) {
      const offer = { kind, instance: 'stranger', slot: 0 };
      const socket = await tunnel.dial('edge', offer, AbortSignal.timeout(1_000));
      socket.on('error', () => {}).resume();
      misbehave(socket);
      await until(() => tunnel.accepted.every((accepted) => accepted.socket.destroyed));
      assert.equal(tunnel.hub.connected('edge'), false);
    }
    await tunnel.startAgent('edge');
  });

  test(`an agent leaves a hub that ${name}, and goes on trying`, async () => {
    await using tunnel = await startTunnel();
    const stranger = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {}).on('data', () => {});
      misbehave(socket);
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as { port: number };
    let good = false;
    const agent = await tunnel.startAgent('edge', {
      limits: { handshakeTimeoutMs: 50, pingIntervalMs: 50, pingTimeoutMs: 50 },
      dial: async (offer, signal) => {
        if (good) return await tunnel.dial('edge', offer, signal);
        setTimeout(() => (good = true), 100);
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        return socket;
      },
    });
    assert.ok(agent.states.some(({ state, retryInMs }) => state === 'disconnected' && (retryInMs ?? 0) > 0));
    stranger.close();
  });
}
