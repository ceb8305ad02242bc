import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveProbes } from './serve-probes.ts';

test('alive from the start, ready once there is nothing to wait for', async () => {
  let why: string | undefined = 'waiting to be let in';
  await using probes = await serveProbes({ host: '127.0.0.1', port: 0 }, () => why);
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${probes.port}${path}`);
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
  assert.deepEqual(await get('/readyz'), [503, 'waiting to be let in\n']);
  why = undefined;
  assert.deepEqual(await get('/readyz'), [200, 'ok\n']);
  assert.deepEqual(await get('/metrics'), [404, 'not found\n']);
});

test('an address that is taken is told by its flag', async () => {
  await using first = await serveProbes({ host: '127.0.0.1', port: 0 }, () => undefined);
  await assert.rejects(
    serveProbes({ host: '127.0.0.1', port: first.port }, () => undefined),
    /^CommandError: --probe-listen: cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)$/,
  );
});
