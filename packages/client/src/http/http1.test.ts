import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type FakeRequest, reply, startFakeServer } from '../testing/fake-server.ts';
import { failsWith, get, text } from '../testing/requests.ts';
import { createTransport } from './http-transport.ts';

describe('HTTP/1.1', () => {
  test('a kept connection that the server has closed meanwhile does not fail a read', async () => {
    const used = new Set<Socket>();
    await using server = await startFakeServer(
      ({ socket }, response) => {
        if (used.has(socket)) return void socket.destroy();
        used.add(socket);
        reply(response, 'fine');
      },
      { protocol: 'plain' },
    );
    await using transport = createTransport(server.connection());
    await Promise.all([1, 2].map(async () => text(await transport.request(get('/')))));
    assert.equal(await text(await transport.request(get('/'))), '"fine"');
    await assert.rejects(transport.request({ method: 'POST', path: '/', body: 'x' }), failsWith('ECONNRESET'));
  });

  test('what comes as a whole is there as a whole, and its connection is used again; a body of many pieces is read as it comes', async () => {
    const large = Buffer.alloc(1 << 20, 'x');
    await using server = await startFakeServer(
      ({ url }, response) => {
        if (url === '/none') return void (response as ServerResponse).writeHead(204).end();
        response.end(url === '/large' ? large : '');
      },
      { protocol: 'plain' },
    );
    await using transport = createTransport(server.connection());
    for (const path of ['/none', '/empty']) {
      const { bytes, body } = await transport.request(get(path));
      assert.equal(bytes?.length, 0);
      assert.deepEqual(await body.toArray(), []);
    }
    const { bytes, body } = await transport.request(get('/large'));
    assert.equal(bytes, undefined);
    assert.ok(Buffer.concat(await body.toArray()).equals(large));
    assert.equal((await transport.request(get('/empty'))).bytes?.length, 0);
    assert.equal(server.connections(), 1);
  });

  test('a reader that stops stops the server; what it then reads is all there', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const PIECES = 1_000;
    let sent = 0;
    await using server = await startFakeServer(
      (_, response) => {
        const more = (): void => {
          while (sent++ < PIECES) if (!(response as ServerResponse).write(piece)) return;
          response.end();
        };
        response.on('drain', more);
        more();
      },
      { protocol: 'http1' },
    );
    await using transport = createTransport(server.connection());
    const { body } = await transport.request(get('/'));
    // Nothing more is sent: what the sockets of both ends keep is full.
    for (let before = -1; before !== sent; await setTimeout(50)) before = sent;
    assert.ok(sent < PIECES / 2, `${sent} of ${PIECES} pieces were sent to nobody`);
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) length += chunk.length;
    assert.equal(length, PIECES * piece.length);
  });

  test('what a server says twice is one text, but for cookies; what it says beforehand is no answer', async () => {
    await using server = await startFakeServer(
      (_, response) => {
        const answer = response as ServerResponse;
        answer.writeEarlyHints({ link: '</style.css>; rel=preload' });
        answer.setHeader('warning', ['299 - "one"', '299 - "two"']).setHeader('set-cookie', ['a=1', 'b=2']);
        reply(answer, 'fine');
      },
      { protocol: 'plain' },
    );
    await using transport = createTransport(server.connection());
    const answer = await transport.request(get('/'));
    assert.equal(answer.headers['warning'], '299 - "one", 299 - "two"');
    assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2']);
    assert.equal(await text(answer), '"fine"');
  });

  test('an answer that ends before its length fails where it is read', async () => {
    await using server = await startFakeServer(
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
      { protocol: 'plain' },
    );
    await using transport = createTransport(server.connection());
    const { body } = await transport.request(get('/'));
    await assert.rejects(body.toArray(), failsWith('ECONNRESET', /cannot read from http:/));
  });

  test('an answer that makes no sense, and a request that cannot be said, fail', async () => {
    await using server = await startFakeServer(({ socket }) => void socket.end('SMTP 220 ready\r\n\r\n'), {
      protocol: 'plain',
    });
    await using transport = createTransport(server.connection());
    await assert.rejects(
      transport.request(get('/')),
      failsWith('ERR_NOT_HTTP', /cannot reach http:.*does not match the HTTP/),
    );
    await assert.rejects(transport.request(get('/', { headers: { 'x-a': 'b\r\nx-c: d' } })), /invalid x-a header/);
    await assert.rejects(transport.request(get('/a b')), /invalid request path/);
  });

  test('a body that breaks off breaks off its request: the server never takes half of it for all', async () => {
    let whole = 0;
    await using server = await startFakeServer(
      (request) => {
        request.on('error', () => {}).on('end', () => (whole += 1));
        request.once('data', () => server.events.emit('half'));
      },
      { protocol: 'plain' },
    );
    await using transport = createTransport(server.connection());
    async function* breaking(): AsyncGenerator<Uint8Array> {
      const seen = once(server.events, 'half');
      yield Buffer.from('half');
      await seen;
      throw new Error('it broke');
    }
    for (const body of [breaking(), Readable.from(breaking())]) {
      const [socket] = await Promise.all([
        once(server.events, 'connection'),
        assert.rejects(transport.request({ method: 'POST', path: '/', body }), /it broke/),
      ]);
      if (!(socket[0] as Socket).destroyed) await once(socket[0] as Socket, 'close');
    }
    assert.equal(whole, 0);
  });

  for (const protocol of ['h2', 'http1', 'plain'] as const) {
    test(`upgrade, where requests go over ${protocol}: the socket is the caller's, and nothing is lost`, async () => {
      await using server = await startFakeServer((_, response) => reply(response, 'no', 403), { protocol });
      server.events.on('upgrade', ({ headers }: FakeRequest, socket: Socket) => {
        if (headers.upgrade !== 'echo') return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
        const { authorization } = headers;
        socket.write(`HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n${authorization} `);
        socket.pipe(socket);
      });
      await using transport = createTransport(server.connection({ kind: 'token', token: 't0k' }));
      const upgrade = (to: string) =>
        transport.upgrade({ method: 'GET', path: '/exec', headers: { connection: 'Upgrade', upgrade: to } });
      const response = await upgrade('echo');
      assert.ok('socket' in response);
      assert.equal(response.headers['upgrade'], 'echo');
      response.socket.end('ping');
      assert.equal(Buffer.concat(await response.socket.toArray()).toString(), 'Bearer t0k ping');
      const refused = await upgrade('other');
      assert.ok(!('socket' in refused));
      assert.equal(refused.status, 403);
      assert.equal(await text(refused), 'no');
    });
  }
});
