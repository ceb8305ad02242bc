import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { connect as connectTcp } from 'node:net';
import { fine, open, openHttp2, type Running, start } from './test-listener.ts';

/** The body of the answer to a request that says nothing. */
async function ask(t: TestContext, running: Running, protocol: 'http/1.1' | 'h2'): Promise<Readable> {
  if (protocol === 'h2') return openHttp2(t, running).request({ ':path': '/' });
  const { port, ca } = running;
  const [answer] = (await once(https.get({ port, host: '127.0.0.1', ca, agent: false }), 'response')) as [Readable];
  return answer;
}

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

for (const protocol of ['http/1.1', 'h2'] as const) {
  test(`an answer that has begun leaves to its end before a stop: ${protocol}`, async (t) => {
    const body = Buffer.alloc(4 * 1024 * 1024, 'a');
    const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body }));
    const stream = await ask(t, running, protocol);
    const [first] = (await once(stream, 'data')) as [Buffer];
    const closed = running.listener.close();
    const rest = await buffer(stream);
    assert.equal(first.length + rest.length, body.length);
    await closed;
  });
}

test('an answer that ends while the server stops is whole', async (t) => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('fi');
    entered.resolve();
    await release.promise;
    yield Buffer.from('ne');
  }
  const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body: pieces() }));
  const stream = await ask(t, running, 'h2');
  await entered.promise;
  const closed = running.listener.close();
  setImmediate(release.resolve);
  assert.equal(await text(stream), 'fine');
  await closed;
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
