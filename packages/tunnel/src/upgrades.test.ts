import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { connect as connectTls, type TlsOptions } from 'node:tls';
import type { Transport } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { exec, execSocket, SWITCH } from './testing/exec.ts';
import { bytesOf, closeOf, startTunnel, textOf } from './testing/start-tunnel.ts';
import { answerTunnelUpgrade } from './wire/answer-tunnel-upgrade.ts';
import { parseOffer } from './wire/connection-offer.ts';
import { breakSocket } from './wire/socket.ts';
import { upgradeToTunnel } from './wire/upgrade-to-tunnel.ts';

test('an upgrade passes through with its protocol and headers, and then byte for byte', async () => {
  const seen: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  await using tunnel = await startTunnel({
    onUpgrade: (request, socket) => {
      seen.push(request);
      socket.write(`${SWITCH}at once`); // Behind the head, in the same packet.
      socket.pipe(socket);
    },
  });
  await tunnel.startAgent('edge');
  const response = await exec(tunnel.hub.transport('edge'), '/exec?command=sh&stdin=true');
  assert.ok('socket' in response);
  assert.deepEqual(
    [response.status, response.headers['upgrade'], response.headers['x-stream-protocol-version']],
    [101, 'SPDY/3.1', 'v4'],
  );
  assert.equal(seen[0]?.url, '/exec?command=sh&stdin=true');
  assert.deepEqual(
    [seen[0]?.headers['upgrade'], seen[0]?.headers['x-stream-protocol-version']],
    ['SPDY/3.1', 'v5, v4'],
  );

  const sent = randomBytes(3 << 20);
  response.socket.end(sent);
  assert.deepEqual(await bytesOf(response.socket), Buffer.concat([Buffer.from('at once'), sent]));
});

test('half-close is kept both ways, and the last bytes arrive', async () => {
  const last = randomBytes(2 << 20);
  await using tunnel = await startTunnel({
    onUpgrade: async (request, socket) => {
      socket.write(SWITCH);
      if (request.url === '/server-first') {
        socket.end('bye');
        assert.ok((await bytesOf(socket)).equals(last));
        finished.push('server-first');
      } else {
        const got = await bytesOf(socket);
        socket.end(Buffer.concat([Buffer.from(`got ${got.length} `), last]));
      }
    },
  });
  const finished: string[] = [];
  await tunnel.startAgent('edge', { connections: { upgrade: 2 } });
  const transport = tunnel.hub.transport('edge');

  const clientFirst = await execSocket(transport, '/client-first');
  clientFirst.end('request');
  assert.deepEqual(await bytesOf(clientFirst), Buffer.concat([Buffer.from('got 7 '), last]));

  const serverFirst = await execSocket(transport, '/server-first');
  assert.equal(await textOf(serverFirst), 'bye');
  serverFirst.end(last);
  await until(() => finished.length === 1);
});

test('an answer that is no upgrade comes as an answer', async () => {
  await using tunnel = await startTunnel({
    handler: (_request, response) => {
      response.writeHead(403, { 'Content-Type': 'application/json', 'X-Multi': ['a', 'b'] });
      response.end('{"message":"no"}');
    },
  });
  await tunnel.startAgent('edge');
  const response = await exec(tunnel.hub.transport('edge'));
  assert.ok('body' in response);
  assert.deepEqual(
    [response.status, response.headers['content-type'], response.headers['x-multi']],
    [403, 'application/json', ['a', 'b']],
  );
  assert.equal(await textOf(response.body), '{"message":"no"}');
});

test('the allow-list, a target that is gone, and requests that are none', async () => {
  await using tunnel = await startTunnel();
  const upgrade = () => Promise.reject(new Error('connect ECONNREFUSED'));
  await tunnel.startAgent('edge', {
    target: { ...tunnel.target, upgrade },
    admit: (request, context) => (request.path === '/no' && context.upgrade ? { refused: 'not listed' } : request),
  });
  const transport = tunnel.hub.transport('edge');
  await assert.rejects(exec(transport, '/no'), {
    code: 'ERR_TUNNEL_REFUSED',
    message: /"edge".*POST \/no: not listed/,
  });
  await assert.rejects(exec(transport, '/yes'), { code: 'ERR_TUNNEL_TARGET', message: /"edge".*ECONNREFUSED/ });
  for (const path of ['/a b', '/a\r\nX: y', 'a']) {
    await assert.rejects(exec(transport, path), { code: 'ERR_TUNNEL_PROTOCOL' });
  }
  const evil = { upgrade: 'x', evil: 'a\r\nImpersonate-User: root' };
  await assert.rejects(transport.upgrade({ method: 'GET', path: '/', headers: evil }), /header "evil" cannot be sent/);
  await assert.rejects(transport.upgrade({ method: 'GET', path: '/' }), /has an Upgrade header/);
});

test('the pool is refilled: many at once each get a connection, one after the other as they come', async () => {
  await using tunnel = await startTunnel({
    onUpgrade: (request, socket) => {
      socket.write(SWITCH);
      socket.write(request.url);
      socket.pipe(socket);
    },
  });
  await tunnel.startAgent('edge', { connections: { upgrade: 2 } });
  const transport = tunnel.hub.transport('edge');
  const paths = Array.from({ length: 12 }, (_, i) => `/exec/${i}`);
  const sockets = await Promise.all(paths.map((path) => execSocket(transport, path)));
  assert.equal(tunnel.hub.counters('edge')?.openStreams, 12);
  await until(() => tunnel.hub.counters('edge')?.connections.upgrade === 14);
  const echoes = sockets.map((socket) => {
    socket.end('!');
    return textOf(socket);
  });
  assert.deepEqual(
    await Promise.all(echoes),
    paths.map((path) => `${path}!`),
  );
  await until(() => tunnel.hub.counters('edge')?.openStreams === 0);
});

test('without an upgrade connection the wait is bounded, ends with the signal, and with the agent', async () => {
  await using tunnel = await startTunnel({ limits: { upgradeWaitMs: 100 } });
  const agent = await tunnel.startAgent('edge', { connections: { upgrade: 0 } });
  const transport = tunnel.hub.transport('edge');
  await assert.rejects(exec(transport), {
    code: 'ERR_TUNNEL_TIMEOUT',
    message: /"edge".*no upgrade connection within 100 ms/,
  });
  const abort = new AbortController();
  const aborted = exec(transport, '/', abort.signal);
  abort.abort(new Error('left'));
  await assert.rejects(aborted, /^Error: left$/);
  const waiting = exec(transport);
  agent.stop();
  await assert.rejects(waiting, { code: 'ERR_TUNNEL_NOT_CONNECTED' });
});

test('byte pipes are limited', async () => {
  await using tunnel = await startTunnel({
    limits: { maxStreams: 2 },
    onUpgrade: (_request, socket) => socket.write(SWITCH),
  });
  await tunnel.startAgent('edge', { connections: { upgrade: 2 } });
  const transport = tunnel.hub.transport('edge');
  const [first] = await Promise.all([execSocket(transport), execSocket(transport)]);
  await assert.rejects(exec(transport), { code: 'ERR_TUNNEL_LIMIT', message: /2 upgraded connections/ });
  first.destroy();
  await until(() => tunnel.hub.counters('edge')?.openStreams === 1);
  (await execSocket(transport)).destroy();
});

test('a caller that leaves before the answer aborts the upgrade at the target', async () => {
  let arrived: AbortSignal | undefined;
  await using tunnel = await startTunnel();
  const upgrade: Transport['upgrade'] = ({ signal }) => {
    arrived = signal;
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  await tunnel.startAgent('edge', { target: { ...tunnel.target, upgrade } });
  const abort = new AbortController();
  const waiting = exec(tunnel.hub.transport('edge'), '/', abort.signal);
  await until(() => arrived !== undefined);
  abort.abort(new Error('left'));
  await assert.rejects(waiting, /^Error: left$/);
  await until(() => arrived?.aborted === true);
});

test('an upgrade that the target takes long to answer is not taken for dead', async () => {
  await using tunnel = await startTunnel({
    limits: { pingIntervalMs: 50, pingTimeoutMs: 150 },
    onUpgrade: (_request, socket) => setTimeout(() => socket.write(SWITCH), 600),
  });
  await tunnel.startAgent('edge');
  (await execSocket(tunnel.hub.transport('edge'))).destroy();
});

test('a pipe that breaks on one side breaks on the other', async () => {
  const upstream: Duplex[] = [];
  await using tunnel = await startTunnel({
    onUpgrade: (_request, socket) => {
      upstream.push(socket.on('error', () => {}));
      socket.write(SWITCH);
    },
  });
  await tunnel.startAgent('edge', { connections: { upgrade: 2 } });
  const transport = tunnel.hub.transport('edge');
  const one = await execSocket(transport);
  const oneClosed = closeOf(one);
  (upstream[0] as Socket).resetAndDestroy();
  await oneClosed;
  const two = await execSocket(transport);
  const upstreamClosed = closeOf(upstream[1] as Socket);
  breakSocket(two);
  await upstreamClosed;
});

/** TLS without certificates: the pre-shared key is enough to see how TLS sockets behave. */
const PSK: TlsOptions = { ciphers: 'PSK-AES128-GCM-SHA256', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' };
const psk = Buffer.alloc(16, 7);

test('all of it over TLS, where the server does not keep half-close by itself', async () => {
  const last = randomBytes(1 << 20);
  await using tunnel = await startTunnel({
    handler: (request, response) => request.pipe(response),
    onUpgrade: async (_request, socket) => {
      socket.write(SWITCH);
      const got = await bytesOf(socket);
      socket.end(Buffer.concat([got, last]));
    },
  });
  const server = createHttpsServer({ ...PSK, pskCallback: () => psk } as TlsOptions);
  server.on('upgrade', (request, socket, head) => {
    tunnel.hub.accept('edge', answerTunnelUpgrade(socket, request.headers, head), parseOffer(request.headers));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = await tunnel.startAgent('edge', {
    dial: async (offer, signal) => {
      const socket = connectTls({
        host: '127.0.0.1',
        port,
        ...PSK,
        pskCallback: () => ({ psk, identity: 'agent' }),
        checkServerIdentity: () => undefined,
      });
      await once(socket, 'secureConnect', { signal });
      return await upgradeToTunnel(socket, { path: '/', host: 'hub', carrier: tunnel.carrier, offer, signal });
    },
  });
  const transport = tunnel.hub.transport('edge');
  const body = randomBytes(5 << 20);
  assert.ok((await bytesOf((await transport.request({ method: 'POST', path: '/', body })).body)).equals(body));
  const socket = await execSocket(transport);
  socket.end('request');
  assert.deepEqual(await bytesOf(socket), Buffer.concat([Buffer.from('request'), last]));
  agent.stop();
  await agent.done;
  server.close();
});
