import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ResourceType } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type ManagedServer, type Manager } from '../lifecycle/manager.ts';
import { createMetrics } from '../metrics/create-metrics.ts';
import { answer, FakeApi, failure } from '../testing/fake-api.ts';
import { HandProvider } from '../testing/hand-provider.ts';
import { createStatusServer, type StatusServer, type StatusServerOptions } from './status-server.ts';

const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };

let api: FakeApi;
let abort: AbortController;
let provider: HandProvider;
let server: StatusServer;
let manager: Manager;
let stopped: Promise<void>;

beforeEach(async () => {
  api = await FakeApi.start();
  abort = new AbortController();
  provider = new HandProvider();
});

afterEach(async () => {
  abort.abort();
  await stopped.catch(() => {});
  await api[Symbol.asyncDispose]();
});

/** Resolves when the server listens. */
async function start(options: Partial<StatusServerOptions> = {}, further: ManagedServer[] = []): Promise<void> {
  server = createStatusServer({ port: 0, host: '127.0.0.1', ...options });
  const listening = Promise.withResolvers<void>();
  const after: ManagedServer = {
    name: 'after',
    start: async () => listening.resolve(),
    stop: async () => {},
  };
  const servers = [server, after, ...further];
  manager = createManager({
    client: api.client(),
    providers: [provider],
    logger: silentLogger,
    servers,
    random: () => 0,
  });
  const reconcile = async (): Promise<void> => {};
  manager.add(createController({ name: 'sets', reconcile }).for(SETS, { clusters: 'all' }));
  stopped = manager.start(abort.signal);
  stopped.catch(() => {});
  await Promise.race([listening.promise, stopped]);
}

async function get(path: string, method = 'GET'): Promise<{ status: number; text: string; type: string | null }> {
  const response = await fetch(`${server.url}${path}`, { method });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}

describe('the status server', () => {
  test('says ready when the caches are there, and names the informer that is not, with its HTTP status', async () => {
    const forbidden = failure(403, 'Forbidden', { message: 'sets.apps is forbidden: User "x" cannot list it' });
    const mend = api.fault(
      ({ path, response }) => path === '/apis/apps/v1/sets' && (answer(response, 403, forbidden), true),
    );
    await start();
    await api.called(({ path }) => path === '/apis/apps/v1/sets');
    assert.equal((await get('/healthz')).text, 'ok');
    let readyz = await get('/readyz');
    while (readyz.text.includes('no answer yet')) readyz = await get('/readyz');
    assert.deepEqual(readyz, {
      status: 500,
      text:
        '[+]ping ok\n' +
        '[-]informer-sync failed: sets.apps: HTTP 403: sets.apps is forbidden: User "x" cannot list it\n' +
        'readyz check failed\n',
      type: 'text/plain; charset=utf-8',
    });
    assert.equal((await get('/readyz/ping')).status, 200);
    assert.equal((await get('/readyz/informer-sync')).status, 500);
    mend();
    await manager.ready();
    assert.deepEqual(await get('/readyz'), { status: 200, text: 'ok', type: 'text/plain; charset=utf-8' });
    assert.deepEqual(manager.whyNotReady(), []);
  });

  test('a member cluster that is not well is told of, and decides nothing', async () => {
    await start();
    await manager.ready();
    const member = await FakeApi.start();
    member.fault(({ response }) => (answer(response, 403, failure(403, 'Forbidden')), true));
    const { cluster } = provider.engage('m1', member.client());
    while (cluster.health() === 'Connected') await new Promise(setImmediate);
    assert.equal((await get('/readyz')).text, 'ok');
    assert.deepEqual((await get('/readyz?verbose')).text.split('\n').slice(2), [
      '[ ]cluster/m1 Stale: sets.apps: HTTP 403',
      'readyz check passed',
      '',
    ]);
    abort.abort();
    await stopped;
    await member[Symbol.asyncDispose]();
  });

  test('checks of one’s own', async () => {
    const broken = { name: 'database', check: () => 'does not answer' };
    await start({ health: [broken], ready: [broken] });
    await manager.ready();
    for (const path of ['/healthz', '/livez', '/readyz', '/readyz/database']) {
      const { status, text } = await get(path);
      assert.deepEqual([status, /database failed: does not answer/.test(text)], [500, true], path);
    }
  });

  test('metrics, where there are any', async () => {
    await start({ metrics: createMetrics({ process: false }) });
    const { status, text, type } = await get('/metrics');
    assert.deepEqual([status, type], [200, 'text/plain; version=0.0.4; charset=utf-8']);
    assert.match(text, /^# TYPE controller_runtime_reconcile_total counter$/m);
    assert.deepEqual(await get('/metrics', 'HEAD'), { status, type, text: '' });
  });

  const REFUSED: [what: string, path: string, method: string, status: number][] = [
    ['another path', '/other', 'GET', 404],
    ['no metrics', '/metrics', 'GET', 404],
    ['a name of Object.prototype', '/constructor', 'GET', 404],
    ['no path', 'http://[', 'GET', 404],
    ['another method', '/healthz', 'POST', 405],
  ];
  test('refuses what it has not', async () => {
    await start();
    for (const [what, path, method, status] of REFUSED) {
      const { hostname, port } = new URL(server.url ?? '');
      const [response] = await once(request({ hostname, port, path, method }).end(), 'response');
      response.resume();
      assert.equal(response.statusCode, status, what);
    }
  });

  test('listens until all else has stopped, and says that it is about to', async () => {
    const seen: string[] = [];
    await start();
    await manager.ready();
    manager.add({
      name: 'part',
      async run(signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        seen.push((await get('/readyz')).text, (await get('/healthz')).text);
      },
    });
    abort.abort();
    await stopped;
    assert.deepEqual(seen, ['[+]ping ok\n[-]informer-sync failed: the manager stops\nreadyz check failed\n', 'ok']);
    assert.equal(server.url, undefined);
  });

  test('a port that is taken ends the manager, which says so; what listened is stopped', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await start({}, [createStatusServer({ port, host: '127.0.0.1' })]);
    await assert.rejects(stopped, /status server failed to start: listen EADDRINUSE/);
    await assert.rejects(manager.ready(), /EADDRINUSE/);
    assert.equal(server.url, undefined);
    assert.deepEqual(api.calls, [], 'no cache was started');
    other.close();
  });
});
