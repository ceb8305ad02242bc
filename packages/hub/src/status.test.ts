import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@asterism/runtime';
import { createHub } from './create-hub.ts';
import { TestFleet } from './testing/test-fleet.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };

/** Keeps where the status server listens. */
function listening(urls: string[]): Logger {
  const info = (fields: { url?: string }, message: string): void => {
    if (message === 'the status server listens' && fields.url) urls.push(fields.url);
  };
  return { ...silentLogger, info, child: () => listening(urls) };
}

test('metrics and probes of the controllers are served where that is asked for', async () => {
  const urls: string[] = [];
  await using fleet = await TestFleet.start({ status: LOCAL, logger: listening(urls) });
  const [url] = urls;
  assert.match(url ?? '', /^http:\/\/127\.0\.0\.1:\d+$/);
  const member = await fleet.startMember();
  const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true, cluster: 'edge-1' });
  await fleet.join(member, { token }).ready;
  const ask = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`${url}${path}`);
    return [response.status, await response.text()];
  };
  assert.deepEqual(await ask('/healthz'), [200, 'ok']);
  assert.deepEqual(await ask('/readyz'), [200, 'ok']);
  const [, metrics] = await ask('/metrics');
  assert.match(metrics, /^controller_runtime_reconcile_total\{.*controller="cluster-registration".*\} [1-9]/m);
  assert.match(metrics, /^asterism_informer_synced\{.*\} 1$/m);
  await fleet.hub.stop();
  await assert.rejects(fetch(`${url}/healthz`));
});

test('nowhere, where it is not', async () => {
  const urls: string[] = [];
  await using fleet = await TestFleet.start({ logger: listening(urls) });
  assert.ok(fleet.hub.url);
  assert.deepEqual(urls, []);
});

test('an address that another program has is named, with its flag', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const dataDir = await mkdtemp(join(tmpdir(), 'asterism-hub-'));
  await using hub = createHub({ dataDir, listen: LOCAL, status: { host: '127.0.0.1', port }, logger: silentLogger });
  await assert.rejects(hub.start(), {
    name: 'HubError',
    code: 'AddressInUse',
    message: `another program listens on 127.0.0.1:${port}: stop it, or choose another address with --status-listen`,
  });
  other.close();
  await rm(dataDir, { recursive: true });
});
