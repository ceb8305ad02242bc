import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { AUTHORITY } from '@asterism/client/testing';
import { connectToCluster, type ConnectOptions } from './connect-to-cluster.ts';
import { kubeconfigOf, PODS, RecordedLog } from './testing/provider-trial.ts';
import { FakeApi } from '../testing/fake-api.ts';

let parts: AsyncDisposableStack;
let folder: string;
let path: string;
let api: FakeApi;
let log: RecordedLog;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'runtime-connect-'));
  parts.defer(() => rm(folder, { recursive: true }));
  path = join(folder, 'config');
  api = parts.use(await FakeApi.start());
  log = new RecordedLog();
});
afterEach(() => parts.disposeAsync());

async function connect(options: Partial<ConnectOptions> = {}) {
  const { client } = parts.use(await connectToCluster({ path, logger: log.logger, ...options }));
  /** Asks, and gives the token that came with it. */
  return async (): Promise<string | undefined> => {
    await client.resource(PODS).list();
    return api.calls.at(-1)?.headers.authorization;
  };
}
const write = (token: string, server = api.url): Promise<void> =>
  writeFile(path, kubeconfigOf({ main: { server, token } }));

describe('the cluster that a process works with', { timeout: 20_000 }, () => {
  test('is that of the kubeconfig, with the credentials that this has now', async () => {
    await write('first');
    const token = await connect();
    assert.equal(await token(), 'Bearer first');
    await write('second');
    await log.line(/^info the credentials were replaced/);
    assert.equal(await token(), 'Bearer second');
    assert.ok(!log.lines.join().includes('second'));
  });

  const bad: [name: string, text: () => string, why: RegExp][] = [
    ['is no kubeconfig', () => '{', /is neither YAML nor JSON/],
    [
      'leads to another cluster',
      () => kubeconfigOf({ main: { server: 'http://127.0.0.1:1', token: 't' } }),
      /another cluster/,
    ],
    ['has lost its context', () => kubeconfigOf({ other: { server: api.url, token: 't' } }), /context "main"/],
  ];
  for (const [name, text, why] of bad) {
    test(`stays as it was when the file ${name}; what is right again counts`, async () => {
      await write('first');
      const token = await connect();
      await writeFile(path, text());
      // It may be seen half written before, which is told of too.
      assert.match(await log.line(why), /^warn/);
      assert.equal(await token(), 'Bearer first');
      await write('second');
      await log.line(/^info the credentials were replaced/);
      assert.equal(await token(), 'Bearer second');
    });
  }

  test('is the one that was current at the start', async () => {
    const both = { main: { server: api.url, token: 'main' }, other: { server: api.url, token: 'other' } };
    await writeFile(path, kubeconfigOf(both));
    const token = await connect();
    const after = { other: both.other, main: { ...both.main, token: 'new' } };
    await writeFile(path, kubeconfigOf(after));
    await log.line(/^info the credentials were replaced/);
    assert.equal(await token(), 'Bearer new');
  });

  test('in a pod is its own', async () => {
    await writeFile(join(folder, 'token'), 'pod');
    await writeFile(join(folder, 'ca.crt'), AUTHORITY);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' };
    await using main = await connectToCluster({ logger: log.logger, inCluster: { env, folder } });
    assert.equal(main.client.transport.server, 'https://127.0.0.1:1');
  });

  test('must be there', async () => {
    await assert.rejects(connect({ path: join(folder, 'none') }), { code: 'ENOENT' });
    await writeFile(path, '{"contexts":[],"clusters":[],"users":[]}');
    await assert.rejects(connect(), /config has no current-context/);
  });
});
