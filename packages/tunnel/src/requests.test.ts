import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TransportRequest, TransportResponse } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { bytesOf, startTunnel, textOf } from './testing/start-tunnel.ts';
import { isTunnelError } from './tunnel-error.ts';

/** Answers with what came. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await textOf(request);
  const { method, url, rawHeaders } = request;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, rawHeaders, body }));
}

interface Echo {
  method: string;
  url: string;
  rawHeaders: string[];
  body: string;
}

test('a request reaches the target as it was made, and its answer comes back', async () => {
  await using tunnel = await startTunnel({ handler: echo });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  for (const [method, body] of [
    ['GET', undefined],
    ['POST', '{"a":"ä"}'],
    ['PATCH', Buffer.from('bytes')],
    ['PUT', chunks('one ', 'two ', 'three')],
    ['DELETE', undefined],
  ] as const) {
    const response = await transport.request({ method, path: '/api/v1/pods?limit=5&x=%20', body });
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json');
    const seen = JSON.parse(await textOf(response.body)) as Echo;
    assert.equal(seen.method, method);
    assert.equal(seen.url, '/api/v1/pods?limit=5&x=%20');
    assert.equal(
      seen.body,
      body === undefined ? '' : typeof body === 'string' ? body : method === 'PATCH' ? 'bytes' : 'one two three',
    );
  }
});

test('a request is asked about when it goes out, and not sent where that throws', async () => {
  const seen: (string | undefined)[] = [];
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      seen.push(request.url);
      response.end();
    },
  });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  const admit = (): void => {
    throw new Error('not any more');
  };
  await assert.rejects(transport.request({ method: 'POST', path: '/a', body: 'x', admit }), /^Error: not any more$/);
  const upgrade = { method: 'POST', path: '/b', headers: { connection: 'Upgrade', upgrade: 'echo' }, admit };
  await assert.rejects(transport.upgrade(upgrade), /^Error: not any more$/);
  await transport.request({ method: 'POST', path: '/c', body: 'x' });
  assert.deepEqual(seen, ['/c']);
});

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from(text);
  }
}

test('headers: repeated ones stay apart, those of one hop and the tunnel’s own stay behind', async () => {
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      response.setHeader('Warning', ['299 - "one"', '299 - "two"']);
      response.setHeader('Connection', 'x-hop');
      response.setHeader('X-Hop', '1');
      response.setHeader('Tunnel-Error', 'TARGET');
      response.end(JSON.stringify(request.rawHeaders));
    },
  });
  await tunnel.startAgent('edge');
  const response = await tunnel.hub.transport('edge').request({
    method: 'GET',
    path: '/',
    headers: {
      'Impersonate-Group': ['admins, all', 'devs'],
      'Impersonate-Extra-acme.com%2Fproject': 'p\u00e9',
      Connection: 'keep-alive, X-Once',
      'X-Once': 'no',
      'Keep-Alive': 'timeout=5',
      TE: 'trailers',
      'Transfer-Encoding': 'chunked',
      'Proxy-Authorization': 'Basic x',
      'Tunnel-Long': '1',
    },
  });
  assert.deepEqual(response.headers['warning'], ['299 - "one"', '299 - "two"']);
  assert.equal(response.headers['x-hop'], undefined);
  assert.equal(response.headers['connection'], undefined);
  const raw = JSON.parse(await textOf(response.body)) as string[];
  const pairs = raw.flatMap((name, i) => (i % 2 === 0 ? [`${name.toLowerCase()}: ${raw[i + 1]}`] : [])).sort();
  assert.deepEqual(
    pairs.filter((pair) => !/^(host|connection): /.test(pair)),
    ['impersonate-extra-acme.com%2fproject: p\u00e9', 'impersonate-group: admins, all', 'impersonate-group: devs'],
  );
});

test('answers without a body keep their status and headers', async () => {
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      response.statusCode = request.method === 'HEAD' ? 200 : Number(request.url?.slice(1));
      response.setHeader('x-seen', 'yes');
      response.end(request.method === 'HEAD' ? 'never sent' : undefined);
    },
  });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  for (const [method, path, status] of [
    ['HEAD', '/', 200],
    ['GET', '/204', 204],
    ['GET', '/304', 304],
    ['GET', '/404', 404],
    ['GET', '/503', 503],
  ] as const) {
    const response = await transport.request({ method, path });
    assert.deepEqual([response.status, response.headers['x-seen']], [status, 'yes']);
    assert.equal(await textOf(response.body), '');
  }
});

test('large bodies come whole in both directions at once', async () => {
  const sent = randomBytes(24 << 20);
  await using tunnel = await startTunnel({ handler: (request, response) => request.pipe(response) });
  await tunnel.startAgent('edge');
  const body = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < sent.length; at += 100_000) yield sent.subarray(at, at + 100_000);
  };
  const response = await tunnel.hub.transport('edge').request({ method: 'POST', path: '/', body: body() });
  assert.ok((await bytesOf(response.body)).equals(sent));
  const counters = tunnel.hub.counters('edge');
  assert.ok(
    counters && counters.bytesSent > sent.length && counters.bytesReceived > sent.length,
    JSON.stringify(counters),
  );
});

test('an answer that comes before the request’s body is read ends the upload', async () => {
  await using tunnel = await startTunnel();
  const request = async (): Promise<TransportResponse> => ({
    status: 413,
    headers: {},
    body: Readable.from(['too large']),
  });
  await tunnel.startAgent('edge', { target: { ...tunnel.target, request } });
  let ended = false;
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(64 << 10);
    } finally {
      ended = true;
    }
  };
  const response = await tunnel.hub.transport('edge').request({ method: 'POST', path: '/', body: endless() });
  assert.equal(response.status, 413);
  assert.equal(await textOf(response.body), 'too large');
  await until(() => ended);
});

test('a target that leaves the request’s body in the middle still has its answer passed on', async () => {
  await using tunnel = await startTunnel();
  const request = async ({ body }: TransportRequest): Promise<TransportResponse> => {
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.return?.();
    const answer = (async function* () {
      for (const piece of ['it is ', 'too large']) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        yield Buffer.from(piece);
      }
    })();
    return { status: 413, headers: {}, body: Readable.from(answer, { objectMode: false }) };
  };
  await tunnel.startAgent('edge', { target: { ...tunnel.target, request } });
  let given = 0;
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) {
      given += 64 << 10;
      yield Buffer.alloc(64 << 10);
    }
  };
  const response = await tunnel.hub.transport('edge').request({ method: 'POST', path: '/', body: endless() });
  assert.deepEqual([response.status, await textOf(response.body)], [413, 'it is too large']);
  assert.ok(given < 16 << 20, `${given} bytes were sent that nobody read`);
});

test('a target that cannot be reached is an error that names the agent, not an answer', async () => {
  await using tunnel = await startTunnel();
  await tunnel.startAgent('edge-7', {
    target: {
      ...tunnel.target,
      request: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1:6443 – ü')),
    },
  });
  await assert.rejects(tunnel.hub.transport('edge-7').request({ method: 'GET', path: '/' }), (error) => {
    assert.ok(isTunnelError(error, 'TARGET'));
    assert.match(error.message, /"edge-7".*connect ECONNREFUSED 10\.0\.0\.1:6443 – ü/);
    assert.deepEqual([error.code, error.statusCode], ['ERR_TUNNEL_TARGET', 502]);
    return true;
  });
});

test('the allow-list of the agent refuses, and may change, what goes to the target', async () => {
  await using tunnel = await startTunnel({ handler: echo });
  await tunnel.startAgent('edge', {
    admit: (request) => {
      if (request.path.startsWith('/secret')) return { refused: 'not on the list' };
      const { 'impersonate-user': _removed, ...headers } = request.headers ?? {};
      return { ...request, headers };
    },
  });
  const transport = tunnel.hub.transport('edge');
  await assert.rejects(transport.request({ method: 'GET', path: '/secret/1?token=t' }), (error) => {
    assert.ok(isTunnelError(error, 'REFUSED') && /GET \/secret\/1: not on the list/.test(error.message));
    return true;
  });
  const response = await transport.request({
    method: 'GET',
    path: '/x',
    headers: { 'Impersonate-User': 'root', b: '2' },
  });
  const seen = JSON.parse(await textOf(response.body)) as Echo;
  assert.ok(seen.rawHeaders.includes('b') && !seen.rawHeaders.some((header) => /impersonate/i.test(header)));
});

test('limits: headers of either direction, and streams', async () => {
  let open = 0;
  await using tunnel = await startTunnel({
    limits: { maxStreams: 3, maxHeaderBytes: 8 << 10 },
    handler: (request, response) => {
      if (request.url === '/big') response.setHeader('x-big', 'x'.repeat(10_000));
      if (request.url === '/hang') open += 1;
      else response.end('ok');
    },
  });
  await tunnel.startAgent('edge', { connections: { long: 0 } });
  const transport = tunnel.hub.transport('edge');
  const big = { big: 'x'.repeat(9_000) };
  await assert.rejects(
    transport.request({ method: 'GET', path: '/', headers: big }),
    /"edge": the headers of GET take 9\d{3} bytes, 8192/,
  );
  await assert.rejects(transport.request({ method: 'GET', path: '/big' }), /the target's answer take 10\d{3} bytes/);
  await assert.rejects(transport.request({ method: 'GET', path: '/a b' }), /not a path: "\/a b"/);
  await assert.rejects(transport.request({ method: 'GET', path: '/', headers: { a: 'b\r\nc: d' } }), {
    code: 'ERR_TUNNEL_PROTOCOL',
  });
  await until(() => tunnel.hub.counters('edge')?.openStreams === 0);
  const abort = new AbortController();
  const hanging = [1, 2, 3].map(() => transport.request({ method: 'GET', path: '/hang', signal: abort.signal }));
  await until(() => open === 3);
  await assert.rejects(transport.request({ method: 'GET', path: '/' }), { code: 'ERR_TUNNEL_LIMIT', statusCode: 429 });
  abort.abort(new Error('enough'));
  for (const one of hanging) await assert.rejects(one, /enough/);
  await until(() => tunnel.hub.counters('edge')?.openStreams === 0);
  assert.equal((await transport.request({ method: 'GET', path: '/' })).status, 200, 'the connection lives on');
});
