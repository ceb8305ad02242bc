import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { test } from 'node:test';
import { connect as connectTcp } from 'node:net';
import { fine, open, start } from './test-listener.ts';

test('headers that come too slowly end the connection', async (t) => {
  const socket = await open(await start(t, fine, { headersTimeoutMs: 400 }));
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ');
  socket.resume();
  await once(socket, 'close');
});

test('a handshake that never comes ends the connection', async (t) => {
  const { port } = await start(t, fine, { headersTimeoutMs: 100 });
  const socket = connectTcp({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'close');
});

test('a body is asked for its next piece only when the client takes the last', async (t) => {
  let asked = 0;
  const piece = Buffer.alloc(1024 * 1024);
  const endless = (): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked++;
        return Promise.resolve({ done: false, value: piece });
      },
    }),
  });
  const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body: endless() }));
  const socket = await open(running);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'readable');
  let before: number;
  do {
    before = asked;
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (asked !== before);
  assert.ok(asked < 64, `${asked} MiB were asked for while nobody read`);
  socket.destroy();
});

test('a client that leaves ends the body, and its request is aborted', async (t) => {
  for (const protocol of ['http/1.1', 'h2']) {
    const left = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const running = await start(t, (request) => {
      request.signal.addEventListener('abort', () => aborted.resolve());
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () => left.promise.then(() => ({ done: true, value: undefined })),
          return: () => {
            left.resolve();
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      };
      return Promise.resolve({ status: 200, headers: {}, body });
    });
    if (protocol === 'h2') {
      const session = http2.connect(`https://127.0.0.1:${running.port}`, { ca: running.ca });
      const stream = session.request({ ':path': '/' });
      await once(stream, 'response');
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await Promise.all([left.promise, aborted.promise]);
      session.close();
    } else {
      const socket = await open(running);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await once(socket, 'readable');
      socket.destroy();
      await Promise.all([left.promise, aborted.promise]);
    }
  }
});

test('an error in the middle of a body cuts it off: no client takes a part for the whole', async (t) => {
  const seen = Promise.withResolvers<void>();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a part');
    await seen.promise;
    throw new Error('the disk is gone');
  }
  const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body: broken() }));
  const socket = await open(running);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (piece.includes('a part')) seen.resolve();
  });
  await once(socket, 'close');
  const text = Buffer.concat(pieces).toString();
  assert.match(text, /a part/);
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/);
  assert.match(String(running.errors[0]), /the disk is gone/);
});

test('an error in the middle of a body cuts it off by HTTP/2 too', async (t) => {
  const seen = Promise.withResolvers<void>();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a part');
    await seen.promise;
    throw new Error('the disk is gone');
  }
  const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body: broken() }));
  const session = http2.connect(`https://127.0.0.1:${running.port}`, { ca: running.ca });
  t.after(() => session.destroy());
  const stream = session.request({ ':path': '/' });
  stream.on('data', () => seen.resolve());
  const [error] = (await once(stream, 'error')) as [NodeJS.ErrnoException];
  assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR');
  assert.equal(stream.rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR);
});

test('answers under way are finished before a stop, connections that idle are not waited for', async (t) => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const running = await start(t, async () => {
    entered.resolve();
    await release.promise;
    return await fine();
  });
  const idle = await open(running);
  const busy = await open(running);
  busy.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await entered.promise;
  const closed = running.listener.close();
  setImmediate(release.resolve);
  const [answer] = (await once(busy, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
  await Promise.all([closed, idle.closed ? undefined : once(idle, 'close')]);
});

test('headers of another connection are not passed on, which HTTP/2 would refuse', async (t) => {
  const headers = { connection: 'keep-alive', 'Transfer-Encoding': 'chunked', 'x-mine': '1' };
  const running = await start(t, () => Promise.resolve({ status: 200, headers, body: Buffer.from('fine') }));
  const session = http2.connect(`https://127.0.0.1:${running.port}`, { ca: running.ca });
  const stream = session.request({ ':path': '/' });
  const [received] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  assert.deepEqual([received['x-mine'], received.connection], ['1', undefined]);
  stream.resume();
  await once(stream, 'end');
  session.close();
});

test('no headers are remembered for a connection, in either direction', async (t) => {
  const running = await start(t, () =>
    Promise.resolve({ status: 200, headers: { 'audit-id': 'a-b-c' }, body: undefined }),
  );
  const session = http2.connect(`https://127.0.0.1:${running.port}`, { ca: running.ca });
  t.after(() => session.destroy());
  await once(session, 'remoteSettings');
  for (let request = 0; request < 3; request++) {
    const stream = session.request({ ':path': '/', 'x-request': 'the same each time' });
    stream.resume();
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    assert.equal(headers['audit-id'], 'a-b-c');
  }
  const { deflateDynamicTableSize, inflateDynamicTableSize } = session.state;
  assert.deepEqual([deflateDynamicTableSize, inflateDynamicTableSize], [0, 0]);
});
