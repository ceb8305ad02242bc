import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { test } from 'node:test';
import { ManualClock, until } from '@asterism/client/testing';
import { runTunnelAgent } from './agent/run-tunnel-agent.ts';
import { createHttpTarget } from './testing/http-target.ts';
import { startTunnel, textOf } from './testing/start-tunnel.ts';
import { TunnelError } from './tunnel-error.ts';

for (const [why, error] of [
  ['nobody listened', new Error('ECONNREFUSED')],
  ['only what stands before it answered', new TunnelError('REFUSED', '503', { retryAfterMs: 1_000 })],
] as const) {
  test(`a hub that is back is dialled within 2 s, however long ${why}`, async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const dials: number[] = [];
    const agent = runTunnelAgent({
      dial: () => {
        dials.push(clock.wall().getTime());
        return Promise.reject(error);
      },
      target: createHttpTarget(0),
      limits: { handshakeTimeoutMs: 60_000 },
      clock,
      random: () => 0.999,
      signal: stop.signal,
    });
    // The other timer is the dial's own.
    while (dials.length < 20) clock.advance(await clock.timer((ms) => ms < 30_000));
    stop.abort();
    await agent;
    const waits = dials.slice(1).map((at, i) => at - (dials[i] ?? 0));
    assert.ok(Math.max(...waits) < 2_000, String(waits));
  });
}

test('calls wait for an agent that was lost a moment ago', async () => {
  const onUpgrade = (_: unknown, socket: Duplex): void => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello');
  };
  const handler = (_: unknown, response: ServerResponse): unknown => response.end('ok');
  await using tunnel = await startTunnel({ handler, onUpgrade, limits: { reconnectWaitMs: 3_000 } });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  for (const { socket } of tunnel.accepted) socket.destroy();
  await until(() => !tunnel.hub.connected('edge'));
  const [post, answer] = await Promise.all([
    transport.request({ method: 'POST', path: '/', body: Readable.from([Buffer.from('once')]) }),
    transport.upgrade({ method: 'GET', path: '/', headers: { connection: 'Upgrade', upgrade: 'x' } }),
  ]);
  assert.equal(await textOf(post.body), 'ok');
  assert.ok('socket' in answer);
  assert.equal(await textOf(answer.socket), 'hello');
});

test('no longer than that, nor for one that was disconnected on purpose, nor for a caller who left', async () => {
  await using tunnel = await startTunnel({ limits: { reconnectWaitMs: 200 } });
  const transport = tunnel.hub.transport('edge');
  const call = (signal?: AbortSignal): Promise<unknown> => transport.request({ method: 'GET', path: '/', signal });
  const agent = await tunnel.startAgent('edge');
  agent.stop();
  await agent.done;
  await until(() => !tunnel.hub.connected('edge'));
  const leaving = new AbortController();
  const left = call(leaving.signal);
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
  await assert.rejects(call(), { code: 'ERR_TUNNEL_NOT_CONNECTED' });
  const waiting = call();
  tunnel.hub.disconnect('edge', 'a test');
  await assert.rejects(waiting, { code: 'ERR_TUNNEL_NOT_CONNECTED' });
});
