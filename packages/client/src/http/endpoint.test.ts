import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { reply, startFakeServer } from '../testing/fake-server.ts';
import { failsWith, get } from '../testing/requests.ts';
import { listen } from '../testing/tcp-proxy.ts';
import { createTransport } from './http-transport.ts';

describe('reaching the server', () => {
  const none = { credential: { kind: 'none' } } as const;

  test('says what is wrong, with which server, and what to do', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    await using plain = await startFakeServer((_, response) => reply(response, {}), { protocol: 'plain' });
    const closed = createServer();
    const port = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    const cases: [connection: object, code: string, message: RegExp][] = [
      [
        { server: `https://127.0.0.1:${port}` },
        'ECONNREFUSED',
        new RegExp(`cannot reach https://127.0.0.1:${port}: .*is the server up`),
      ],
      [
        { server: server.url, caData: undefined },
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        /none of the certificates that this connection trusts signed it/,
      ],
      [{ ...server.connection(), tlsServerName: 'other.test' }, 'ERR_TLS_CERT_ALTNAME_INVALID', /other\.test/],
      [{ ...server.connection(), tlsServerName: '10.0.0.1' }, 'ERR_TLS_CERT_ALTNAME_INVALID', /10\.0\.0\.1/],
      [
        { server: plain.url.replace('http:', 'https:') },
        'ERR_SSL_WRONG_VERSION_NUMBER',
        /is it https, and the right port/,
      ],
      [
        server.connection({ kind: 'certificate', cert: 'no', key: 'no' }),
        'ERR_CERTIFICATE',
        /the certificates for .* cannot be used/,
      ],
    ];
    for (const [connection, code, message] of cases) {
      await using transport = createTransport({ ...none, ...connection } as Parameters<typeof createTransport>[0]);
      await assert.rejects(transport.request(get('/')), failsWith(code, message), code);
    }
    for (const address of ['127.0.0.1:6443', 'ftp://x', 'https://u:p@x', '']) {
      assert.throws(() => createTransport({ ...none, server: address }), failsWith('ERR_SERVER_URL'));
    }
  });

  test('a server that accepts and says nothing is left after the time for connecting', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}).resume());
    const url = `https://127.0.0.1:${await listen(mute)}`;
    await using transport = createTransport({ ...none, server: url }, { connectTimeoutMs: 30 });
    await assert.rejects(transport.request(get('/')), failsWith('ETIMEDOUT', /no connection within 30 ms/));
    await new Promise((resolve) => mute.close(resolve));
  });

  test('tlsServerName stands for the host; insecureSkipTlsVerify asks for nothing', async () => {
    await using server = await startFakeServer((_, response) => reply(response, {}));
    for (const connection of [
      { ...server.connection(), tlsServerName: 'kubernetes.test' },
      { ...server.connection(), caData: undefined, insecureSkipTlsVerify: true },
    ]) {
      await using transport = createTransport(connection);
      assert.equal((await transport.request(get('/'))).status, 200);
    }
  });
});
