import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTransport } from '../http/http-transport.ts';
import { AUTHORITY } from '../testing/certificates.ts';
import { type ConnectProxyOptions, startConnectProxy } from '../testing/connect-proxy.ts';
import { type FakeRequest, reply, startFakeServer } from '../testing/fake-server.ts';
import { get, text } from '../testing/requests.ts';
import { listen } from '../testing/tcp-proxy.ts';
import { connectThroughProxy } from './connect-through-proxy.ts';

const SECRET = 'p@ss/w%rd';
const ENCODED = `user:${encodeURIComponent(SECRET)}@`;

describe('through a proxy', () => {
  for (const protocol of ['h2', 'http1', 'plain'] as const) {
    test(`requests and upgrades over ${protocol} arrive, and TLS is verified end to end`, async () => {
      await using server = await startFakeServer((_, response) => reply(response, 'fine'), { protocol });
      server.events.on('upgrade', (_: FakeRequest, socket) => {
        socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello ');
        socket.pipe(socket);
      });
      await using proxy = await startConnectProxy({ credential: `user:${SECRET}` });
      const proxyUrl = `http://${ENCODED}127.0.0.1:${proxy.port}`;
      await using transport = createTransport({ ...server.connection(), proxyUrl });
      const answers = await Promise.all([1, 2].map(async () => text(await transport.request(get('/')))));
      assert.deepEqual(answers, ['"fine"', '"fine"']);
      const headers = { connection: 'Upgrade', upgrade: 'echo' };
      const upgraded = await transport.upgrade({ method: 'GET', path: '/', headers });
      assert.ok('socket' in upgraded);
      upgraded.socket.end('bytes');
      assert.equal(Buffer.concat(await upgraded.socket.toArray()).toString(), 'hello bytes');
      assert.ok(proxy.asked.length >= 2);
      assert.ok(proxy.asked.every((asked) => asked === new URL(server.url).host));
      if (protocol === 'plain') return;
      await using stranger = createTransport({ ...server.connection(), caData: undefined, proxyUrl });
      await assert.rejects(stranger.request(get('/')), {
        code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        message: /through the proxy http:\/\/127\.0\.0\.1:\d+: .*a proxy that ends TLS itself/,
      });
    });
  }

  test('names are left to the proxy', async () => {
    await using server = await startFakeServer((_, response) => reply(response, 'fine'));
    await using proxy = await startConnectProxy();
    const { port } = new URL(server.url);
    const connection = { ...server.connection(), server: `https://kubernetes.test:${port}` };
    await using transport = createTransport({ ...connection, proxyUrl: `127.0.0.1:${proxy.port}` });
    assert.equal((await transport.request(get('/'))).status, 200);
    assert.deepEqual(proxy.asked, [`kubernetes.test:${port}`]);
  });

  const refusals: [name: string, options: ConnectProxyOptions, user: string, message: RegExp][] = [
    ['no credential', { credential: 'user:other' }, '', /407 Proxy Authentication.*http:\/\/USER:PASSWORD@127/],
    ['a wrong one', { credential: 'user:other' }, ENCODED, /407 .*does not take the user and the password/],
    ['a rule', { refuse: { status: 403, reason: 'Forbidden by policy' } }, '', /403 Forbidden by policy.*NO_PROXY/],
    ['no CONNECT', { refuse: { status: 405, reason: 'Not Allowed' } }, '', /405 .*the method CONNECT/],
    ['a server out of reach', { refuse: { status: 502, reason: 'Bad Gateway' } }, '', /502 .*cannot reach it itself/],
    ['no HTTP', { garbage: 'SSH-2.0-OpenSSH\r\n\r\n' }, '', /does not speak HTTP/],
    ['no answer', { silent: true }, '', /no connection within 300 ms/],
    ['its end', { garbage: '' }, '', /it closed the connection/],
    ['a head without end', { garbage: 'x'.repeat(70_000) }, '', /a head of more than 65536 bytes/],
  ];
  for (const [name, options, user, message] of refusals) {
    test(`a refusal says what the proxy answered and what to do: ${name}`, async () => {
      await using proxy = await startConnectProxy(options);
      const proxyUrl = `http://${user}127.0.0.1:${proxy.port}`;
      const dialling = connectThroughProxy(proxyUrl, { host: 'hub.test', port: 6443 }, { timeoutMs: 300 });
      await assert.rejects(dialling, (error: Error) => {
        assert.match(error.message, message);
        assert.ok(error.message.includes(`the proxy http://127.0.0.1:${proxy.port}`), error.message);
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /p@ss|p%40ss|dXNlcj/);
        return true;
      });
    });
  }

  test('a proxy that is not there is named, without its password', async () => {
    const closed = createServer();
    const port = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    const proxyUrl = `http://${ENCODED}127.0.0.1:${port}`;
    await using transport = createTransport({ server: 'https://hub.test', credential: { kind: 'none' }, proxyUrl });
    await assert.rejects(transport.request(get('/')), {
      code: 'ECONNREFUSED',
      message: `cannot reach the proxy http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port} (nothing listens there; is the server up, and the port right?)`,
    });
  });

  test('an attempt ends with its signal', async () => {
    await using proxy = await startConnectProxy({ silent: true });
    const abort = new AbortController();
    const options = { timeoutMs: 10_000, signal: abort.signal };
    const dialling = connectThroughProxy(`http://127.0.0.1:${proxy.port}`, { host: 'hub', port: 1 }, options);
    abort.abort(new Error('enough'));
    await assert.rejects(dialling, /enough/);
  });

  test('over TLS to the proxy, whose authority NODE_EXTRA_CA_CERTS adds', async () => {
    await using server = await startFakeServer((_, response) => reply(response, 'fine'));
    await using proxy = await startConnectProxy({ secure: true });
    const proxyUrl = `https://127.0.0.1:${proxy.port}`;
    await using transport = createTransport({ ...server.connection(), proxyUrl });
    await assert.rejects(transport.request(get('/')), {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      message: /the proxy https:/,
    });
    const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
    try {
      await writeFile(join(folder, 'ca.pem'), AUTHORITY);
      const asking = fileURLToPath(new URL('../testing/ask-through-proxy.ts', import.meta.url));
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), HTTPS_PROXY: proxyUrl };
      const flags = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'];
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, asking, server.url, proxyUrl], { env });
      assert.equal(stdout, '"fine"');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
