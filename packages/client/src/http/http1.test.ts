import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
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
