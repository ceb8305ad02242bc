import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Prints whether undici is loaded: in an idle hub, after a request over HTTP/2, and after one over HTTP/1.1. */
const PROGRAM = `
  import { createServer } from 'node:http';
  import { createRequire } from 'node:module';
  import { createTransport } from '@asterism/client';
  import { silentLogger } from '@asterism/runtime';
  const { createHub } = await import(process.argv[1]);
  const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('/undici/'));
  const ask = async (connection) => {
    await using transport = createTransport(connection);
    await (await transport.request({ method: 'GET', path: '/version' })).body.toArray();
    return isLoaded();
  };
  await using hub = createHub({ dataDir: process.argv[2], listen: { host: '127.0.0.1', port: 0 }, logger: silentLogger });
  await hub.start();
  const idle = isLoaded();
  const overHttp2 = await ask(hub.adminConnection);
  const older = createServer((request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => older.once('listening', resolve));
  const server = 'http://127.0.0.1:' + older.address().port;
  const overHttp1 = await ask({ server, credential: { kind: 'none' } });
  older.close();
  process.stdout.write(JSON.stringify({ idle, overHttp2, overHttp1 }));`;

test('a hub loads undici, 15 MB and 60 ms, only when it connects to a server without HTTP/2', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'asterism-idle-'));
  context.after(() => rm(dataDir, { recursive: true }));
  const hub = new URL('./create-hub.ts', import.meta.url).href;
  const flags = ['--conditions=asterism-source', '--input-type=module', '-e', PROGRAM, hub, dataDir];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: import.meta.dirname });
  assert.deepEqual(JSON.parse(stdout), { idle: false, overHttp2: false, overHttp1: true });
});
