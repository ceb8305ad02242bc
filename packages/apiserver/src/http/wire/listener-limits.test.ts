import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { buffer, text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { answerStatus, statusOf } from '../answer/answer.ts';
import { fine, open, openHttp2, start } from './test-listener.ts';

const MIB = 1024 * 1024;

async function ask(session: ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}): Promise<number> {
  const stream = session.request({ ':path': '/', ...headers });
  stream.on('error', () => {});
  stream.resume();
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
  return answer[':status'];
}

/** Lets the event loop go round. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** An answer without end, that tells when its reader is gone. */
function endless(): { answer: () => Promise<ApiResponse>; left: Promise<void>; asked: () => number } {
  const left = Promise.withResolvers<void>();
  let asked = 0;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        asked++;
        return Promise.resolve({ done: false, value: Buffer.alloc(MIB) });
      },
      return: () => {
        left.resolve();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  return { answer: () => Promise.resolve({ status: 200, headers: {}, body }), left: left.promise, asked: () => asked };
}

/** Reads the whole body, as a handler of a write does. */
async function readAll(request: ApiRequest): Promise<ApiResponse> {
  try {
    return { status: 200, headers: {}, body: Buffer.from(String((await request.body()).length)) };
  } catch (error) {
    return await answerStatus(statusOf(error).status);
  }
}

describe('a reader who takes nothing', () => {
  for (const protocol of ['http/1.1', 'h2'] as const) {
    test(`of an answer is cut off after a while: ${protocol}`, async (t) => {
      const { answer, left, asked } = endless();
      const running = await start(t, answer, { stallMs: 100 });
      if (protocol === 'h2') {
        const stream = openHttp2(t, running).request({ ':path': '/' });
        stream.on('error', () => {});
        await once(stream, 'response'); // and nothing of the body
      } else {
        const socket = await open(running);
        socket.pause();
        socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
        t.after(() => socket.destroy());
      }
      await left;
      assert.ok(asked() < 64, `${asked()} MiB were made for nobody`);
      assert.deepEqual(running.errors, []);
    });
  }

  test('of an open-ended answer may take longer', async (t) => {
    const { answer, left } = endless();
    const running = await start(t, async () => ({ ...(await answer()), openEnded: true }), { stallMs: 20 });
    const stream = openHttp2(t, running).request({ ':path': '/' });
    stream.on('error', () => {});
    await once(stream, 'response');
    const began = performance.now();
    await left;
    assert.ok(performance.now() - began > 100);
  });

  test('of a large answer in one piece is cut off too', async (t) => {
    const running = await start(t, () => Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(32 * MIB) }), {
      stallMs: 100,
    });
    const stream = openHttp2(t, running).request({ ':path': '/' });
    const failed = new Promise((resolve) => stream.once('error', resolve));
    await once(stream, 'response'); // and nothing of the body
    assert.match(String(await failed), /NGHTTP2_INTERNAL_ERROR/);
  });
});

describe('a connection without a request', () => {
  for (const [name, protocol, say] of [
    ['HTTP/2 that says nothing', 'h2', ''],
    ['HTTP/1.1 that says nothing', 'http/1.1', ''],
    ['HTTP/2 whose headers never end', 'h2', http2Begin()],
  ] as const) {
    test(`is closed: ${name}`, async (t) => {
      const socket = await open(await start(t, fine, { keepAliveMs: 100, headersTimeoutMs: 300 }), protocol);
      const closed = once(socket, 'close');
      if (say !== '') socket.write(say, 'latin1');
      socket.resume();
      await closed;
    });
  }

  test('that has been used is told so by GOAWAY, and one in use is kept', async (t) => {
    const release = Promise.withResolvers<void>();
    const slow = async (request: ApiRequest): Promise<ApiResponse> => {
      if (request.path === '/slow') await release.promise;
      return await fine();
    };
    const running = await start(t, slow, { keepAliveMs: 60 });
    const [idle, busy] = [openHttp2(t, running), openHttp2(t, running)];
    const slowly = ask(busy, { ':path': '/slow' });
    assert.equal(await ask(idle), 200);
    await once(idle, 'goaway');
    assert.equal(busy.closed, false);
    release.resolve();
    assert.equal(await slowly, 200);
  });
});

describe('headers of a request', () => {
  const long = (length: number): string => `/api?labelSelector=${'a'.repeat(length)}`;
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'x']));

  test('may be as long as a long selector: HTTP/2', async (t) => {
    const session = openHttp2(t, await start(t, fine));
    // Above 64 KiB nghttp2 takes no header.
    assert.equal(await ask(session, { ':path': long(60_000) }), 200);
    assert.equal(await ask(session, many), 200);
  });

  test('may be as long as a long selector: HTTP/1.1', async (t) => {
    const socket = await open(await start(t, fine));
    const lines = Object.entries(many).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${long(200_000)} HTTP/1.1\r\nhost: x\r\n${lines.join('')}connection: close\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1.1 200 /);
  });
});

describe('bodies', () => {
  test('one without end is answered 413, its stream is ended, and the connection lives on', async (t) => {
    const session = openHttp2(t, await start(t, readAll));
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {});
    const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders & { ':status': number }]>;
    const closed = once(stream, 'close');
    const more = (): void => {
      while (!stream.destroyed && stream.write(Buffer.alloc(MIB)));
    };
    stream.on('drain', more);
    more();
    stream.resume();
    const [headers] = await answered;
    assert.equal(headers[':status'], 413);
    await closed;
    assert.equal(await ask(session), 200);
  });

  test('one that says it is too long is not waited for', async (t) => {
    const session = openHttp2(t, await start(t, readAll));
    const stream = session.request({ ':path': '/', ':method': 'POST', 'content-length': String(100 * MIB) });
    stream.on('error', () => {});
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    assert.equal(headers[':status'], 413);
  });

  test('an empty one that ended before anybody read it is empty, and not waited for', async (t) => {
    for (const read of [(request: ApiRequest) => request.body(), (request: ApiRequest) => buffer(request.bodyStream)]) {
      const ended = Promise.withResolvers<void>();
      const running = await start(t, async (request) => {
        await ended.promise;
        return { status: 200, headers: {}, body: Buffer.from(`${(await read(request)).length} bytes`) };
      });
      const session = openHttp2(t, running);
      await once(session, 'connect');
      const stream = session.request({ ':method': 'POST' });
      stream.end();
      session.ping(() => ended.resolve()); // Answered in turn, so behind the end.
      assert.equal(await text(stream), '0 bytes');
    }
  });

  test('one that nobody reads does not hold its answer up', async (t) => {
    const session = openHttp2(t, await start(t, fine));
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write('a part');
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    assert.equal(headers[':status'], 200);
    stream.resume();
    await once(stream, 'close');
  });

  test('whoever gives up on a body as a stream can still answer', async (t) => {
    const giveUp = async (request: ApiRequest): Promise<ApiResponse> => {
      await once(request.bodyStream, 'readable');
      request.bodyStream.destroy();
      return await fine();
    };
    const session = openHttp2(t, await start(t, giveUp));
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write('a part');
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    assert.equal(headers[':status'], 200);
  });

  test('a body as a stream fails where the client leaves in its middle', async (t) => {
    const failed = Promise.withResolvers<unknown>();
    const running = await start(t, async (request) => {
      request.bodyStream.once('error', failed.resolve);
      request.bodyStream.resume();
      await once(request.signal, 'abort');
      return await fine();
    });
    const socket = await open(running, 'h2');
    const session = http2.connect(`https://127.0.0.1:${running.port}`, { createConnection: () => socket });
    session.on('error', () => {});
    const stream: ClientHttp2Stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write('a part', () => socket.destroy());
    assert.match(String(await failed.promise), /ended before its body was complete/);
  });

  test('a body as a stream that nobody reads any more may end before its time', async (t) => {
    const answered = Promise.withResolvers<ApiRequest>();
    const running = await start(t, async (request) => {
      request.bodyStream.pause();
      answered.resolve(request);
      return await fine();
    });
    const socket = await open(running, 'h2');
    const session = http2.connect(`https://127.0.0.1:${running.port}`, { createConnection: () => socket });
    session.on('error', () => {});
    const stream: ClientHttp2Stream = session.request({ ':path': '/', ':method': 'POST' });
    stream.on('error', () => {});
    stream.write('a part');
    const { bodyStream } = await answered.promise;
    const closed = new Promise((resolve) => bodyStream.once('close', resolve));
    socket.destroy();
    await closed; // and no error that nobody has caught
    assert.ok(bodyStream.destroyed);
  });

  test('a client that asks first is told to go on', async (t) => {
    const session = openHttp2(t, await start(t, readAll));
    const stream = session.request({ ':path': '/', ':method': 'POST', expect: '100-continue' });
    await once(stream, 'continue');
    stream.end('12345');
    const [piece] = (await once(stream, 'data')) as [Buffer];
    assert.equal(piece.toString(), '5');
  });
});

describe('floods', () => {
  test('a client that opens and resets streams without end loses its connection, and nobody else does', async (t) => {
    const running = await start(t, async (request) => {
      await once(request.signal, 'abort');
      return await fine();
    });
    const [flooding, other] = [openHttp2(t, running), openHttp2(t, running)];
    await Promise.all([once(flooding, 'connect'), once(other, 'connect')]);
    let resets = 0;
    while (!flooding.destroyed && !flooding.closed) {
      assert.ok(resets < 10_000, 'the flood goes on');
      const streams = Array.from({ length: 50 }, () => flooding.request({ ':path': '/' }).on('error', () => {}));
      await turn();
      for (const stream of streams) stream.close(http2.constants.NGHTTP2_CANCEL);
      await turn();
      resets += streams.length;
    }
    const stream = other.request({ ':path': '/' });
    stream.on('error', () => {});
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await once(stream, 'close');
    assert.equal(other.destroyed, false);
  });

  for (const protocol of ['http/1.1', 'h2'] as const) {
    test(`of more connections without a request than may be the oldest are closed: ${protocol}`, async (t) => {
      const running = await start(t, fine, { maxSilent: 2 });
      const used = openHttp2(t, running);
      assert.equal(await ask(used), 200);
      const silent = [await open(running, protocol), await open(running, protocol)];
      const oldestGone = once(silent[0]!.resume(), 'close');
      silent.push(await open(running, protocol));
      await oldestGone;
      assert.equal(await ask(used), 200);
      assert.deepEqual(
        silent.map(({ destroyed }) => destroyed),
        [true, false, false],
      );
    });
  }

  test('a stop ends hundreds of connections at once', async (t) => {
    const running = await start(t, fine);
    const sockets = await Promise.all(Array.from({ length: 200 }, () => open(running)));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
    await running.listener.close();
    await Promise.all(closed);
  });

  test('a socket that is closed on its sending side gets its answer, and ends', async (t) => {
    const socket = await open(await start(t, fine));
    socket.end('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const pieces: Buffer[] = [];
    for await (const piece of socket) pieces.push(piece as Buffer);
    assert.match(Buffer.concat(pieces).toString(), /^HTTP\/1\.1 200 [^]*fine$/);
  });
});

/** The preface, empty SETTINGS, and HEADERS of stream 1 without END_HEADERS (RFC 9113 3.4, 6.5, 6.2). */
function http2Begin(): string {
  const settings = '\x00\x00\x00\x04\x00\x00\x00\x00\x00';
  const headers = '\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82';
  return `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}${headers}`;
}
