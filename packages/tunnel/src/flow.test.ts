import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Transport } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { startLine } from './testing/start-line.ts';
import { bytesOf, startTunnel, textOf } from './testing/start-tunnel.ts';
import { isTunnelError } from './tunnel-error.ts';

test('one stopped stream and 50 others: the others lose nothing', async () => {
  let pouring = 0;
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      if (request.url === '/log') {
        const pour = (): void => {
          do pouring += 64 << 10;
          while (response.write(Buffer.alloc(64 << 10)));
        };
        response.on('drain', pour);
        pour();
      } else {
        response.end(Buffer.alloc(400_000, request.url));
      }
    },
  });
  await tunnel.startAgent('edge', { connections: { short: 0 } }); // All on the same connection.
  const transport = tunnel.hub.transport('edge');
  const stopped = await transport.request({ method: 'GET', path: '/log', long: true });
  let before = -1;
  await until(() => {
    const still = pouring === before;
    before = pouring;
    return still && pouring > 1 << 20;
  });
  assert.ok(pouring < 16 << 20, `a stopped reader holds its window and some sockets, not ${pouring} bytes`);

  const others = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      const response = await transport.request({ method: 'GET', path: `/${i}`, long: i % 2 === 0 });
      return await bytesOf(response.body);
    }),
  );
  others.forEach((bytes, i) => assert.ok(bytes.equals(Buffer.alloc(400_000, `/${i}`))));

  const first = await stopped.body[Symbol.asyncIterator]().next();
  assert.ok(!first.done, 'the stopped one goes on');
});

test('a long line does not make a large answer slow', async () => {
  const size = 16 << 20;
  await using tunnel = await startTunnel({ handler: (_request, response) => response.end(Buffer.alloc(size)) });
  await using line = await startLine(tunnel.hubPort, 10);
  await tunnel.startAgent('edge', { dial: (offer, signal) => tunnel.dial('edge', offer, signal, line.port) });
  const started = performance.now();
  const response = await tunnel.hub.transport('edge').request({ method: 'GET', path: '/' });
  assert.equal((await bytesOf(response.body)).length, size);
  const seconds = (performance.now() - started) / 1000;
  // Windows of 64 KiB, of the stream or of the connection, would take 16 MiB / 64 KiB * 20 ms = 5 s.
  assert.ok(seconds < 3, `${seconds} s`);
});

test('a slow reader of an upload stalls only that upload', async () => {
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      if (request.url === '/slow')
        response.writeHead(200).flushHeaders(); // Never reads.
      else request.pipe(response);
    },
  });
  await tunnel.startAgent('edge', { connections: { long: 0 } });
  const transport = tunnel.hub.transport('edge');
  let sent = 0;
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) {
      sent += 64 << 10;
      yield Buffer.alloc(64 << 10);
    }
  };
  const slow = await transport.request({ method: 'POST', path: '/slow', body: endless() });
  let before = -1;
  await until(() => {
    const still = sent === before;
    before = sent;
    return still && sent > 1 << 20;
  });
  assert.ok(sent < 16 << 20, `${sent} bytes`);
  const fast = await transport.request({ method: 'POST', path: '/fast', body: 'through' });
  assert.equal(await textOf(fast.body), 'through');
  slow.body.destroy();
});

test('above the limit for stopped readers the one that holds most is reset, and told why', async () => {
  await using tunnel = await startTunnel({
    limits: { maxStalledBytes: 300 << 10 },
    handler: (request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)) << 10)),
  });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  const large = await transport.request({ method: 'GET', path: '/3000' });
  const failed = once(large.body, 'error');
  await until(() => (tunnel.hub.counters('edge')?.bytesReceived ?? 0) > 250 << 10);
  const small = await transport.request({ method: 'GET', path: '/180' });
  const [error] = (await failed) as [Error];
  assert.ok(isTunnelError(error, 'STALLED') && /"edge".*reader stopped/.test(error.message), error.message);
  assert.equal((await bytesOf(small.body)).length, 180 << 10);
});

test('a caller that leaves before the answer aborts the request to the target', async () => {
  const seen: string[] = [];
  const closed: string[] = [];
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      seen.push(request.url ?? '');
      response.on('close', () => closed.push(request.url ?? ''));
    },
  });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  const abort = new AbortController();
  const waiting = transport.request({ method: 'GET', path: '/a', signal: abort.signal });
  await until(() => seen.includes('/a'));
  abort.abort(new Error('caller left'));
  await assert.rejects(waiting, /^Error: caller left$/);
  await until(() => closed.includes('/a'));
  await assert.rejects(
    transport.request({ method: 'GET', path: '/b', signal: AbortSignal.abort(new Error('gone')) }),
    /gone/,
  );
});

test('a call that ended well aborts nothing at the target', async () => {
  await using tunnel = await startTunnel({
    handler: async (request, response) => {
      const body = await textOf(request);
      if (request.url === '/waits') return;
      response.statusCode = request.url === '/empty' ? 204 : 200;
      response.end(request.url === '/empty' ? undefined : `${body} and more`);
    },
  });
  const signals = new Map<string, AbortSignal>();
  const { target } = tunnel;
  const watched: Transport = {
    ...target,
    request: (request) => {
      if (request.signal) signals.set(request.path, request.signal);
      return target.request(request);
    },
  };
  await tunnel.startAgent('edge', { target: watched });
  const transport = tunnel.hub.transport('edge');
  const ended = ['/get', '/post', '/empty'];
  for (const path of ended) {
    const method = path === '/post' ? 'POST' : 'GET';
    const response = await transport.request({ method, path, ...(path === '/post' ? { body: 'sent' } : {}) });
    await textOf(response.body);
  }
  await until(() => tunnel.hub.counters('edge')?.openStreams === 0);
  const abort = new AbortController();
  const waiting = transport.request({ method: 'GET', path: '/waits', signal: abort.signal });
  await until(() => signals.has('/waits'));
  abort.abort(new Error('caller left'));
  await assert.rejects(waiting, /caller left/);
  await until(() => signals.get('/waits')?.aborted === true); // The others closed before.
  assert.deepEqual(
    ended.map((path) => signals.get(path)?.aborted),
    [false, false, false],
  );
});

/** Begins a watch that never ends. */
async function watch(transport: Transport, path: string, signal?: AbortSignal) {
  const response = await transport.request({ method: 'GET', path, long: true, ...(signal ? { signal } : {}) });
  const events = response.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  assert.equal(String((await events.next()).value), 'event');
  return { body: response.body, events };
}

test('a caller that leaves in the middle of an answer aborts it too, by signal, by destroy, by leaving the loop', async () => {
  const closed: string[] = [];
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      response.on('close', () => closed.push(request.url ?? ''));
      response.write('event');
    },
  });
  await tunnel.startAgent('edge');
  const transport = tunnel.hub.transport('edge');
  const abort = new AbortController();
  const bySignal = await watch(transport, '/signal', abort.signal);
  const byDestroy = await watch(transport, '/destroy');
  const byReturn = await watch(transport, '/return');
  abort.abort(new Error('enough'));
  await assert.rejects(bySignal.events.next(), /enough/);
  byDestroy.body.destroy();
  await byReturn.events.return?.();
  await until(() => closed.length === 3);
  assert.deepEqual(closed.sort(), ['/destroy', '/return', '/signal']);
  assert.equal(tunnel.hub.counters('edge')?.ended['reset'], undefined, 'the connections live on');
});

test('closing a transport ends what runs on it, and nothing else', async () => {
  await using tunnel = await startTunnel({ handler: (_request, response) => response.write('event') });
  await tunnel.startAgent('edge');
  const closing = tunnel.hub.transport('edge');
  const mine = await watch(closing, '/1');
  const other = await watch(tunnel.hub.transport('edge'), '/2');
  await closing.close();
  await assert.rejects(mine.events.next(), { code: 'ERR_TUNNEL_CLOSED' });
  await assert.rejects(closing.request({ method: 'GET', path: '/' }), { code: 'ERR_TUNNEL_CLOSED' });
  assert.ok(!other.body.destroyed);
});

test('half an answer is never taken for a whole one', async () => {
  await using tunnel = await startTunnel({
    handler: (_request, response) => {
      response.write('half', () => setImmediate(() => response.destroy()));
    },
  });
  await tunnel.startAgent('edge');
  const response = await tunnel.hub.transport('edge').request({ method: 'GET', path: '/' });
  await assert.rejects(textOf(response.body), (error) => {
    assert.ok(isTunnelError(error, 'TARGET') && /"edge".*broke off/.test(error.message));
    return true;
  });
});

test('half a request is never taken for a whole one', async () => {
  const seen: string[] = [];
  await using tunnel = await startTunnel({
    handler: (request, response) => {
      request.on('end', () => seen.push('whole'));
      request.on('error', () => seen.push('half'));
      request.on('data', () => response.writeProcessing());
    },
  });
  await tunnel.startAgent('edge');
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"half":');
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('the source broke');
  };
  const request = tunnel.hub.transport('edge').request({ method: 'POST', path: '/', body: failing() });
  await assert.rejects(request, /^Error: the source broke$/);
  await until(() => seen.length > 0);
  assert.deepEqual(seen, ['half']);
});

test('thousands of cancelled requests do not end the connection', async () => {
  await using tunnel = await startTunnel({ handler: () => {} });
  await tunnel.startAgent('edge', { connections: { long: 0 } });
  const transport = tunnel.hub.transport('edge');
  for (let round = 0; round < 30; round += 1) {
    const abort = new AbortController();
    const requests = Array.from({ length: 100 }, () =>
      transport.request({ method: 'GET', path: '/', signal: abort.signal }),
    );
    setImmediate(() => setImmediate(() => abort.abort(new Error('enough'))));
    for (const one of await Promise.allSettled(requests)) assert.equal(one.status, 'rejected');
    await until(() => tunnel.hub.counters('edge')?.openStreams === 0);
  }
  const counters = tunnel.hub.counters('edge');
  assert.deepEqual([counters?.ended, counters?.streams], [{}, 3000]);
});
