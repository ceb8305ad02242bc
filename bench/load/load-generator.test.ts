import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { LoadGenerator } from './load-generator.ts';
import type { Load } from './load-message.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const CREATE: Load = {
  method: 'POST',
  path: PATH,
  contentType: 'application/json',
  body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-{i}' }, data: { n: '{n}' } }),
  concurrency: 4,
  seconds: 10,
  most: 20,
};
const PATCH: Load = {
  method: 'PATCH',
  path: `${PATH}/c-{i}`,
  contentType: 'application/merge-patch+json',
  body: JSON.stringify({ data: { n: 'changed-{n}' } }),
  concurrency: 4,
  seconds: 10,
  most: 30,
};

async function started() {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startTestServer());
  const generator = stack.use(new LoadGenerator(new AbortController().signal));
  const token = server.tokenFor({ username: 'load', groups: ['system:masters'] });
  await generator.connect({ url: server.url, ca: server.ca.cert, token }, 2);
  return { generator, maps: server.client.resource(CONFIG_MAPS), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('load: so many requests, numbered, each counted once with all of its bytes', async () => {
  await using load = await started();
  const created = await load.generator.run({ ...CREATE, first: 100 });
  assert.equal(created.requests, 20);
  const { items } = await load.maps.list({ namespace: 'default', labelSelector: '' });
  const mine = items.filter(({ metadata }) => metadata?.name?.startsWith('c-'));
  assert.deepEqual(
    mine.map(({ data }) => Number(data?.['n'])).toSorted((a, b) => a - b),
    range(100, 20),
  );

  const one = await load.generator.run({ method: 'GET', path: `${PATH}/c-100`, concurrency: 1, seconds: 10, most: 1 });
  const read = await load.generator.run({
    method: 'GET',
    path: `${PATH}/c-100`,
    concurrency: 8,
    seconds: 10,
    most: 40,
  });
  assert.equal(read.requests, 40);
  assert.equal(read.bytes, 40 * one.bytes);
  assert.ok(read.p50Ms > 0 && read.p50Ms <= read.p99Ms && read.p99Ms <= read.wallMs);
});

test('load: {i} begins again, {n} does not, so that every change changes something', async () => {
  await using load = await started();
  await load.generator.run({ ...CREATE, most: 5 });
  await load.generator.run({ ...PATCH, modulo: 5, first: 40, concurrency: 1, most: 10 });
  const { items } = await load.maps.list({ namespace: 'default' });
  const values = items.flatMap(({ metadata, data }) => (metadata?.name?.startsWith('c-') ? [data?.['n']] : []));
  assert.deepEqual(
    values,
    range(45, 5).map((n) => `changed-${n}`),
  );
});

test('load: ends after its time', async () => {
  await using load = await started();
  const { requests, wallMs } = await load.generator.run({
    method: 'GET',
    path: '/version',
    concurrency: 2,
    seconds: 0.2,
    most: 1_000_000,
  });
  assert.ok(requests > 0 && requests < 1_000_000);
  assert.ok(wallMs >= 200);
});

test('load: an answer that is no 2xx fails the run, with what the server said', async () => {
  await using load = await started();
  await assert.rejects(
    load.generator.run({ ...PATCH, most: 1 }),
    /^Error: PATCH \/api\/v1\/namespaces\/default\/configmaps\/c-0 was answered 404: .*configmaps \\"c-0\\" not found/,
  );
});

test('load: a change has been delivered when every watcher has it', async () => {
  await using load = await started();
  await load.generator.run({ ...CREATE, most: 1 });
  const path = `${PATH}?watch=1&fieldSelector=metadata.name%3Dc-0`;
  await load.generator.watch({ path, watchers: 120, existing: 1 });
  const fanned = await load.generator.fanOut({ ...PATCH, path: `${PATH}/c-0`, first: 1, most: 3 });
  assert.equal(fanned.requests, 3);

  await load.generator.run({ ...CREATE, first: 1, most: 1 });
  const unheard = load.generator.fanOut({ ...PATCH, path: `${PATH}/c-1`, first: 9, most: 1 });
  const outcome = unheard.then(
    () => 'delivered',
    (error: Error) => error.message,
  );
  await load.generator.run({ method: 'GET', path: '/version', concurrency: 1, seconds: 10, most: 20 });
  await load.generator.unwatch();
  assert.equal(await outcome, 'the watches were closed, after 480 events');
  await assert.rejects(load.generator.fanOut(PATCH), /nobody watches/);
});

test('load: a generator that is gone answers no more, and goes when it is told to', async () => {
  const abort = new AbortController();
  const generator = new LoadGenerator(abort.signal);
  const asked = generator.unwatch();
  abort.abort();
  await assert.rejects(asked, /the load generator ended \(SIGKILL\)/);
  await generator[Symbol.asyncDispose]();
});

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);
