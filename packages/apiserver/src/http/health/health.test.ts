import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { ApiRequest } from '../../contract/api-request.ts';
import { handleHealth, type HealthCheck } from './health.ts';
import { kubernetesChecks } from './health-checks.ts';

const fine = (name: string): HealthCheck => ({ name, check: () => {} });
const broken = (name: string): HealthCheck => ({ name, check: () => Promise.reject(new Error('disk on fire')) });

async function ask(target: string, checks: HealthCheck[]) {
  const [path, search] = target.split('?') as [string, string | undefined];
  const request: ApiRequest = {
    method: 'GET',
    path,
    query: new URLSearchParams(search),
    headers: {},
    body: () => Promise.resolve(new Uint8Array()),
    bodyStream: Readable.from([]),
    signal: AbortSignal.any([]),
  };
  const failures: string[] = [];
  const endpoints = {
    live: checks,
    ready: [...checks, fine('shutdown')],
    onFailure: (endpoint: string, check: string, error: unknown) =>
      failures.push(`${endpoint} ${check} ${String(error)}`),
  };
  const { status, body } = await handleHealth(request, endpoints);
  return { status, text: Buffer.from(body as Uint8Array).toString(), failures };
}

const rows: [target: string, checks: HealthCheck[], status: number, text: string][] = [
  ['/healthz', [fine('ping')], 200, 'ok'],
  ['/livez?verbose', [fine('ping'), fine('storage')], 200, '[+]ping ok\n[+]storage ok\nlivez check passed\n'],
  ['/readyz?verbose', [fine('ping')], 200, '[+]ping ok\n[+]shutdown ok\nreadyz check passed\n'],
  [
    '/livez',
    [fine('ping'), broken('storage')],
    500,
    '[+]ping ok\n[-]storage failed: reason withheld\nlivez check failed\n',
  ],
  ['/livez?exclude=storage', [fine('ping'), broken('storage')], 200, 'ok'],
  [
    '/livez?verbose&exclude=nope',
    [fine('ping')],
    200,
    '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nlivez check passed\n',
  ],
  ['/livez/storage', [fine('storage')], 200, 'ok'],
  ['/livez/post/start/', [fine('post/start')], 404, '404 page not found\n'],
  ['/livez/nope', [fine('storage')], 404, '404 page not found\n'],
];

for (const [target, checks, status, text] of rows) {
  test(`health: ${target} of ${checks.map(({ name }) => name).join(', ')}`, async () => {
    const answer = await ask(target, checks);
    assert.deepEqual({ status: answer.status, text: answer.text }, { status, text });
  });
}

test('why a check failed reaches the log and not the caller', async () => {
  const { text, failures } = await ask('/readyz/storage', [broken('storage')]);
  assert.doesNotMatch(text, /fire/);
  assert.deepEqual(failures, ['readyz storage Error: disk on fire']);
});

test("the checks of a server have upstream's names, and tell of its storage", async () => {
  let storage: Error | undefined;
  const { live, ready } = kubernetesChecks({
    storage: () => {
      if (storage) throw storage;
    },
    shutdown: () => {},
    space: { name: 'storage', check: () => {} },
  });
  const names = (checks: HealthCheck[]) => checks.map(({ name }) => name);
  assert.deepEqual(names(live).slice(0, 4), ['ping', 'log', 'loopback-serving-certificate', 'etcd']);
  assert.ok(names(ready).includes('poststarthook/rbac/bootstrap-roles'));
  assert.equal(names(ready).at(-1), 'shutdown');
  assert.ok(names(ready).includes('storage') && !names(live).includes('storage'));
  assert.equal((await ask('/livez/etcd', live)).status, 200);
  storage = new Error('the disk is full');
  assert.match((await ask('/livez', live)).text, /^\[-\]etcd failed: reason withheld$/m);
  assert.equal((await ask('/livez?exclude=etcd', live)).status, 200);
});
