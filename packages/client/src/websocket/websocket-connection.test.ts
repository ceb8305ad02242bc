import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { WebSocketConnection, type WebSocketConnectionOptions } from './websocket-connection.ts';
import { CLOSE } from './websocket-frames.ts';

/** Of a MiB: more than the sockets of both ends hold. */
const MESSAGES = 64;

/** Two ends over a real socket. */
async function connected(server: Partial<WebSocketConnectionOptions> = {}) {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const near = connect({ port: (listener.address() as { port: number }).port, allowHalfOpen: true });
  const [far] = (await once(listener, 'connection')) as [Socket];
  listener.close();
  return {
    client: new WebSocketConnection(near, { role: 'client' }),
    server: new WebSocketConnection(far, { role: 'server', ...server }),
    async [Symbol.asyncDispose]() {
      for (const socket of [near, far]) socket.destroy();
    },
  };
}

describe('a WebSocket connection', () => {
  test('carries messages both ways and tells both ends how the other closed', async () => {
    await using ends = await connected();
    const { client, server } = ends;
    const heard: Buffer[] = [];
    const serving = server.run(({ data, end }) => {
      server.send([Buffer.from('echo '), data]);
      if (end && data.equals(Buffer.from('bye'))) server.close(CLOSE.goingAway, 'enough');
      return undefined;
    });
    const listening = client.run(({ data }) => void heard.push(data));
    client.send([Buffer.from('a'), Buffer.from('bc')]);
    client.ping();
    client.send([Buffer.from('bye')]);
    await Promise.all([serving, listening]);
    assert.equal(Buffer.concat(heard).toString(), 'echo abcecho bye');
    assert.deepEqual(client.peerClose, { code: CLOSE.goingAway, reason: 'enough' });
    assert.deepEqual(server.peerClose, { code: CLOSE.goingAway, reason: '' });
  });

  test('that breaks has no close to tell of', async () => {
    await using ends = await connected();
    const { client, server } = ends;
    const listening = client.run(() => undefined);
    server.transport.destroy();
    await listening;
    assert.equal(client.peerClose, undefined);
  });

  test('is closed for a frame above the limit, before its payload has come', async () => {
    await using ends = await connected({ maxFrameBytes: 1000 });
    const { client, server } = ends;
    const serving = server.run(() => undefined);
    const listening = client.run(() => undefined);
    client.send([Buffer.alloc(1001)]);
    await Promise.all([serving, listening]);
    assert.deepEqual(client.peerClose, { code: CLOSE.tooBig, reason: 'a frame of more than 1000 bytes' });
  });

  test('reads no further while what it gave is not taken', async () => {
    await using ends = await connected();
    const { client, server } = ends;
    let taken = 0;
    const go = Promise.withResolvers<void>();
    const serving = server.run(({ data }) => {
      taken += data.length;
      return go.promise;
    });
    let written = 0;
    const pour = (): void => {
      if (written === MESSAGES) return client.close();
      written += 1;
      client.send([Buffer.alloc(1 << 20)], { taken: pour });
    };
    const listening = client.run(() => undefined);
    pour();
    const [near, far] = [client.transport, server.transport];
    while (!near.writableNeedDrain || far.readableLength < far.readableHighWaterMark) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(taken <= 1 << 20, `${taken} bytes were given to one who takes none`);
    assert.ok(written < MESSAGES, 'the sender is held up');
    go.resolve();
    await Promise.all([serving, listening]);
    assert.equal(taken, MESSAGES << 20);
  });
});
