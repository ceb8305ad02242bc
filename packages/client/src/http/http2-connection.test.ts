import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import { describe, test } from 'node:test';
import { reply, startFakeServer } from '../testing/fake-server.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { failsWith, get, text } from '../testing/requests.ts';
import { startTcpProxy } from '../testing/tcp-proxy.ts';
import { createTransport } from './http-transport.ts';

const http2Stream = (response: unknown) => (response as Http2ServerResponse).stream;

describe('HTTP/2', () => {
  test('short and long requests have connections of their own, with large windows', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    await using transport = createTransport(server.connection());
    await text(await transport.request(get('/')));
    await text(await transport.request(get('/', { long: true })));
    await text(await transport.request(get('/', { long: true })));
    assert.equal(server.connections(), 2);
    const [session] = server.sessions;
    const windows = server.sessions.map(({ remoteSettings }) => remoteSettings.initialWindowSize);
    assert.deepEqual(windows, [1024 * 1024, 512 * 1024]);
    assert.ok((session?.state.remoteWindowSize ?? 0) > 63 * 1024 * 1024, `${session?.state.remoteWindowSize}`);
  });

  test('what is too small to hold up a watch needs no connection of its own', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    await using transport = createTransport(server.connection());
    await text(await transport.request(get('/', { besideWatches: true })));
    await text(await transport.request(get('/', { long: true })));
    assert.equal(server.connections(), 1);
  });

  test('watches have none of their own where they are to be with the rest', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    await using transport = createTransport(server.connection(), { watchesApart: false });
    const [short, long] = await Promise.all([transport.request(get('/')), transport.request(get('/', { long: true }))]);
    await Promise.all([text(short), text(long)]);
    assert.equal(server.connections(), 1);
    transport.replaceConnection(server.connection({ kind: 'token', token: 'other' }));
    await text(await transport.request(get('/', { long: true })));
    assert.equal(server.connections(), 2);
  });

  test('more streams than a connection may have open another', async () => {
    let running = 0;
    const enough = Promise.withResolvers<void>();
    await using server = await startFakeServer((_, response) => {
      (response as ServerResponse).write('begin');
      if (++running === 25) enough.resolve();
    });
    await using transport = createTransport(server.connection(), { maxStreams: 10 });
    const requests = Array.from({ length: 25 }, () => transport.request(get('/', { long: true })));
    await enough.promise;
    assert.equal(server.sessions.length, 3);
    await Promise.all(requests);
  });

  test("the server's own limit of streams counts", async () => {
    await using server = await startFakeServer((_, response) => void (response as ServerResponse).write('begin'), {
      tls: { settings: { maxConcurrentStreams: 2 } },
    });
    await using transport = createTransport(server.connection());
    await Promise.all(Array.from({ length: 5 }, () => transport.request(get('/', { long: true }))));
    assert.equal(server.sessions.length, 3);
  });

  test('GOAWAY: what runs comes to its end, what comes goes elsewhere', async () => {
    let finish: (() => void) | undefined;
    await using server = await startFakeServer(({ url }, response) => {
      (response as ServerResponse).write('begin ');
      if (url === '/slow') finish = () => response.end('end');
      else response.end('other');
    });
    await using transport = createTransport(server.connection());
    const slow = await transport.request(get('/slow'));
    const [session] = server.sessions;
    session?.goaway(constants.NGHTTP2_NO_ERROR, 1);
    const other = await transport.request(get('/other'));
    assert.equal(await text(other), 'begin other');
    assert.equal(server.connections(), 2);
    finish?.();
    assert.equal(await text(slow), 'begin end');
  });

  test('what the server did not take is sent again, also a write; but not for ever', async () => {
    let refuse = 1;
    let asked = 0;
    await using server = await startFakeServer((_, response) => {
      asked++;
      if (refuse-- > 0) http2Stream(response).close(constants.NGHTTP2_REFUSED_STREAM);
      else reply(response, 'taken');
    });
    await using transport = createTransport(server.connection());
    const write = { method: 'POST', path: '/', body: 'x' };
    assert.equal(await text(await transport.request(write)), '"taken"');
    assert.equal(asked, 2);
    refuse = 100;
    await assert.rejects(transport.request(write), failsWith('ERR_NOT_PROCESSED', /did not take the request/));
    assert.equal(asked, 5);
  });

  test('a request behind a GOAWAY is sent again on another connection', async () => {
    let asked = 0;
    await using server = await startFakeServer((_, response) => {
      const stream = http2Stream(response);
      if (++asked === 2) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, (stream.id ?? 0) - 2);
      else reply(response, 'taken');
    });
    await using transport = createTransport(server.connection());
    await text(await transport.request(get('/')));
    assert.equal(await text(await transport.request({ method: 'POST', path: '/', body: 'x' })), '"taken"');
    assert.equal(server.connections(), 2);
  });

  test('a stream that the server resets is an error, not an end', async () => {
    await using server = await startFakeServer((_, response) => {
      const stream = http2Stream(response);
      stream.respond({ ':status': 200 });
      stream.write('half');
      setImmediate(() => stream.destroy(new Error('the handler failed')));
    });
    await using transport = createTransport(server.connection());
    const { body } = await transport.request(get('/'));
    await assert.rejects(body.toArray(), failsWith('ERR_HTTP2_STREAM_ERROR', /cannot read from https:/));
  });

  test('a connection that falls silent is found out by PING', async () => {
    await using server = await startFakeServer((_, response) => void (response as ServerResponse).write('begin'));
    await using proxy = await startTcpProxy(server.url);
    const clock = new ManualClock();
    await using transport = createTransport({ ...server.connection(), server: proxy.url }, { clock });
    const { body } = await transport.request(get('/', { long: true }));
    await once(body, 'readable');
    proxy.freeze();
    const unanswered = transport.request({ method: 'POST', path: '/', body: 'x', long: true });
    await new Promise(setImmediate); // it is on its way
    clock.advance(30_000); // something had been received
    clock.advance(30_000);
    clock.advance(15_000);
    const message = /no answer to a PING within 15000 ms, after 30000 ms of silence/;
    await assert.rejects(unanswered, failsWith('ERR_PING_TIMEOUT', message));
    await assert.rejects(body.toArray(), failsWith('ERR_PING_TIMEOUT', message));
  });

  test('a connection that falls silent behind a GOAWAY is found out too, and one that does not lives on', async () => {
    const streams: Http2ServerResponse['stream'][] = [];
    await using server = await startFakeServer((_, response) => {
      streams.push(http2Stream(response));
      (response as ServerResponse).write('begin');
    });
    await using proxy = await startTcpProxy(server.url);
    const clock = new ManualClock();
    await using transport = createTransport({ ...server.connection(), server: proxy.url }, { clock });
    const { body } = await transport.request(get('/', { long: true }));
    await once(body, 'readable');
    const session = streams[0]?.session;
    assert.ok(session);
    session.close();
    await transport.request(get('/', { long: true })); // which takes another connection: the GOAWAY has come
    for (let intervals = 0; intervals < 3; intervals++) {
      clock.advance(30_000); // something had been received
      const asked = once(session, 'remoteSettings');
      clock.advance(30_000);
      await asked;
      while (clock.pending().includes(15_000)) await new Promise(setImmediate);
    }
    proxy.freeze();
    clock.advance(30_000);
    clock.advance(30_000);
    clock.advance(15_000);
    await assert.rejects(body.toArray(), failsWith('ERR_PING_TIMEOUT', /no answer to a PING within 15000 ms/));
  });

  test('a connection is asked only when nothing arrives, and lives on when it answers', async () => {
    let pings = 0;
    let stream: Http2ServerResponse['stream'] | undefined;
    await using server = await startFakeServer((_, response) => {
      stream = http2Stream(response);
      stream.respond({ ':status': 200 });
      stream.session?.on('ping', () => pings++);
    });
    const clock = new ManualClock();
    await using transport = createTransport(server.connection(), { clock });
    const { body } = await transport.request(get('/', { long: true }));
    for (let i = 0; i < 5; i++) {
      stream?.write('more ');
      await once(body, 'data');
      clock.advance(30_000);
    }
    assert.ok(stream?.session);
    for (let i = 1; i <= 3; i++) {
      const asked = once(stream.session, 'ping');
      clock.advance(30_000);
      await asked;
      assert.equal(pings, i);
      await clock.timer((ms) => ms === 30_000);
      clock.advance(30_000); // the answer counts as something
    }
    stream.end('end');
    assert.match(await text({ status: 200, headers: {}, body }), /end$/);
  });

  test('a read whose connection broke before the answer is sent again, a write is not', async () => {
    let asked = 0;
    await using server = await startFakeServer((_, response) => {
      if (++asked % 2 === 0) return reply(response, 'fine');
      http2Stream(response).session?.destroy();
    });
    await using transport = createTransport(server.connection());
    assert.equal(await text(await transport.request(get('/'))), '"fine"');
    await assert.rejects(transport.request({ method: 'POST', path: '/', body: 'x' }), failsWith('ERR_CONNECTION_LOST'));
    assert.equal(asked, 3);
  });

  test('a connection that nobody uses is closed in time', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    const clock = new ManualClock();
    await using transport = createTransport(server.connection(), { clock });
    await text(await transport.request(get('/')));
    const [session] = server.sessions;
    assert.ok(session);
    const closed = once(session, 'close');
    while (!session.destroyed) {
      await Promise.race([closed, clock.timer((ms) => ms === 30_000)]);
      clock.advance(30_000);
    }
    assert.equal((await transport.request(get('/'))).status, 200);
    assert.equal(server.connections(), 2);
  });
});
