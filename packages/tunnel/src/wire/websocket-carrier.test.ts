import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { encodeFrame, OPCODE, WebSocketConnection } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { bytesOf as bytesIn, closeOf, textOf } from '../testing/start-tunnel.ts';
import { breakSocket } from './socket.ts';
import { WebSocketCarrier, type WebSocketCarrierOptions } from './websocket-carrier.ts';

async function sockets(): Promise<{ near: Socket; far: Socket } & AsyncDisposable> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const near = connect({ port: (listener.address() as { port: number }).port, allowHalfOpen: true });
  const [far] = (await once(listener, 'connection')) as [Socket];
  listener.close();
  for (const socket of [near, far]) socket.on('error', () => {});
  return {
    near,
    far,
    async [Symbol.asyncDispose]() {
      for (const socket of [near, far]) socket.destroy();
    },
  };
}

/** Both ends over a real socket. */
async function carriers(options: Partial<WebSocketCarrierOptions> = {}) {
  const lines = await sockets();
  const agent = new WebSocketCarrier(lines.near, { role: 'client', ...options });
  const hub = new WebSocketCarrier(lines.far, { role: 'server', ...options });
  for (const carrier of [agent, hub]) carrier.on('error', () => {});
  return { ...lines, agent, hub, [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose]() };
}

describe('the WebSocket carrier', () => {
  test('bytes are intact both ways at once, in writes of any size', async () => {
    await using ends = await carriers();
    const sent = randomBytes(8 << 20);
    const pour = async (carrier: Duplex): Promise<void> => {
      for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 7 + 3) % 300_000) {
        if (!carrier.write(sent.subarray(at, at + size))) await once(carrier, 'drain');
      }
      carrier.end();
    };
    const pouring = [ends.agent, ends.hub].map(pour);
    const got = await Promise.all([bytesIn(ends.agent), bytesIn(ends.hub)]);
    await Promise.all(pouring);
    for (const bytes of got) assert.ok(bytes.equals(sent));
  });

  test('one direction ends and the other goes on; behind both the connection ends, and no byte is lost', async () => {
    await using ends = await carriers();
    const { agent, hub, near, far } = ends;
    agent.write('');
    agent.end('request');
    assert.equal(await textOf(hub.iterator({ destroyOnReturn: false })), 'request');
    assert.ok(!hub.destroyed && hub.writable);
    const last = randomBytes(3 << 20);
    hub.end(last);
    assert.ok((await bytesIn(agent)).equals(last));
    await Promise.all([near, far].map(closeOf));
    assert.ok(agent.destroyed && hub.destroyed);
  });

  const endings: [name: string, act: (hub: WebSocketCarrier) => unknown][] = [
    ['is broken off', breakSocket],
    ['is destroyed', (hub) => hub.destroy()],
    ['loses its socket', (hub) => hub.line.destroy()],
    ['loses its socket by a reset', (hub) => (hub.line as Socket).resetAndDestroy()],
    [
      'is closed by something that knows WebSocket and nothing else',
      (hub) => hub.line.end(Buffer.from([0x88, 2, 3, 0xe8])),
    ],
  ];
  for (const [name, act] of endings) {
    test(`what ${name} has not ended: nobody takes half for the whole`, async () => {
      await using ends = await carriers();
      const { agent, hub } = ends;
      let ended = false;
      agent.on('end', () => {
        ended = true;
      });
      hub.write('half');
      await once(agent, 'data');
      const closed = closeOf(agent);
      act(hub);
      await closed;
      assert.equal(ended, false);
    });
  }

  test('a reader that stops stops the writer: what is kept is bounded', async () => {
    await using ends = await carriers();
    const { agent, hub, near, far } = ends;
    let written = 0;
    let ended = false;
    const pour = (): void => {
      do {
        written += 64 << 10;
        if (written > 64 << 20) {
          agent.end();
          ended = true;
          return;
        }
      } while (agent.write(Buffer.alloc(64 << 10)));
      agent.once('drain', pour);
    };
    pour();
    await until(() => near.writableNeedDrain && far.readableLength >= far.readableHighWaterMark);
    const kept = agent.writableLength + near.writableLength + far.readableLength + hub.readableLength;
    assert.ok(kept < 1 << 20, `${kept} bytes`);
    assert.ok(!ended);
    assert.equal((await bytesIn(hub)).length, 64 << 20);
  });

  test('a quiet connection is kept in use and stands; one whose other end is silent is found dead', async () => {
    await using ends = await carriers({ limits: { pingIntervalMs: 20, pingTimeoutMs: 100 } });
    const { agent, hub, near, far } = ends;
    for (const carrier of [agent, hub]) carrier.resume();
    await until(() => near.bytesRead > 20 && far.bytesRead > 20);
    assert.ok(!agent.destroyed && !hub.destroyed);
    await using silent = await sockets();
    const limits = { pingIntervalMs: 20, pingTimeoutMs: 20 };
    await closeOf(new WebSocketCarrier(silent.near, { role: 'client', limits }));
  });

  test('an end that is not read from is not taken for dead', async () => {
    await using lines = await sockets();
    const limits = { pingIntervalMs: 20, pingTimeoutMs: 20 };
    for (const part of encodeFrame(OPCODE.binary, [Buffer.alloc(1 << 20, 'x')], { role: 'client' }))
      lines.far.write(part);
    // Before anything has come, silence is silence.
    await once(lines.near, 'readable');
    const hub = new WebSocketCarrier(lines.near, { role: 'server', limits });
    const pings = 4 * 2;
    await until(() => lines.near.bytesWritten > pings);
    assert.ok(!hub.destroyed);
    hub.destroy();
  });

  const breaches: [name: string, frames: Uint8Array[][], code: number][] = [
    ['text', [encodeFrame(OPCODE.text, [Buffer.from('a')], { role: 'server' })], 1003],
    [
      'bytes behind the end',
      [[], [Buffer.from('a')]].map((part) => encodeFrame(OPCODE.binary, part, { role: 'server' })),
      1002,
    ],
    ['a second end', [[], []].map((part) => encodeFrame(OPCODE.binary, part, { role: 'server' })), 1002],
    ['a frame of 17 MiB', [encodeFrame(OPCODE.binary, [Buffer.alloc(17 << 20)], { role: 'server' })], 1009],
  ];
  for (const [name, frames, code] of breaches) {
    test(`another end that sends ${name} is closed with ${code}`, async () => {
      await using lines = await sockets();
      const other = new WebSocketConnection(lines.far, { role: 'server' });
      const listening = other.run(() => undefined);
      const agent = new WebSocketCarrier(lines.near, { role: 'client' });
      const closed = closeOf(agent);
      for (const part of frames.flat()) lines.far.write(part);
      await listening;
      assert.equal(other.peerClose?.code, code);
      await closed;
    });
  }

  test('an empty fragment is no end, and fragments are one stream', async () => {
    await using lines = await sockets();
    const agent = new WebSocketCarrier(lines.near, { role: 'client' });
    const parts = [
      [OPCODE.binary, ''],
      [OPCODE.continuation, 'ab'],
      [OPCODE.continuation, ''],
    ] as const;
    for (const [at, [opcode, text]] of parts.entries()) {
      const frame = encodeFrame(opcode, [Buffer.from(text)], { role: 'server', more: at < parts.length - 1 });
      for (const bytes of frame) lines.far.write(bytes);
    }
    for (const bytes of encodeFrame(OPCODE.binary, [], { role: 'server' })) lines.far.write(bytes);
    assert.equal(await textOf(agent), 'ab');
  });
});
