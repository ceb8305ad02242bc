import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject } from '@asterism/machinery';
import { InformerCache } from './cache.ts';
import { answer, FakeApi, failure, isList } from '../testing/fake-api.ts';
import { ALL, CacheBed, NODES, pod, PODS } from './testing/cache-bed.ts';
import { diaryOf } from './testing/diary.ts';

let api: FakeApi;
let clock: ManualClock;
let cache: InformerCache;
let bed: CacheBed;

beforeEach(async () => {
  bed = await CacheBed.start();
  ({ api, clock, cache } = bed);
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const start = (): void => cache.start(new AbortController().signal);

describe('a cache', () => {
  test('one watch for all who ask for the same, until the last of them lets go', async () => {
    const [first, second] = [cache.informer(PODS), cache.informer(PODS)];
    const other = cache.informer(PODS, { labelSelector: 'a=b' });
    start();
    await Promise.all([first, second, other].map((informer) => informer.synced()));
    await api.called((call) => call === api.calls.filter(({ watch }) => watch)[1]);
    assert.equal(api.openWatches, 2);
    const diary = diaryOf(first);
    first.release();
    first.release();
    api.put(ALL, pod('a'));
    await diaryOf(second).until(1);
    assert.deepEqual(diary.lines, [], 'handlers go with the hold through which they came');
    assert.throws(() => first.addHandler({}), /the informer of pods was stopped/);
    second.release();
    assert.equal(cache.status().length, 1);
    const again = cache.informer(PODS);
    await again.synced();
    assert.equal(again.store.size, 1);
  });

  test('reading what nobody watches is an error that says so', async () => {
    start();
    assert.throws(
      () => cache.get(PODS, { namespace: 'n', name: 'a' }),
      /pods in namespace "n" has no informer: ask for one/,
    );
    assert.throws(() => cache.list(NODES), /nodes has no informer/);
    const mend = api.fault(({ response }) => (answer(response, 403, failure(403, 'Forbidden')), true));
    const informer = cache.informer(PODS, { namespace: 'n' });
    await clock.timer((ms) => ms === 800);
    assert.throws(() => cache.get(PODS, { namespace: 'n', name: 'a' }), /not synced yet \(403: Forbidden\)/);
    mend();
    clock.advance(800);
    await informer.synced();
    assert.equal(cache.get(PODS, { namespace: 'n', name: 'a' }), undefined);
    assert.throws(() => cache.get(PODS, { namespace: 'other', name: 'a' }), /no informer that covers this read/);
    assert.throws(() => cache.list(PODS), /no informer that covers this read/);
  });

  test('an object is read from the informer of its name, whatever others there are', async () => {
    api.put(ALL, pod('a'));
    start();
    const [others, named] = [{ labelSelector: 'app=other' }, { fieldSelector: 'metadata.name=a' }].map((options) =>
      cache.informer(PODS, options),
    );
    await Promise.all([others?.synced(), named?.synced()]);
    assert.equal(cache.get(PODS, { namespace: 'n', name: 'a' })?.metadata?.name, 'a');
    assert.throws(() => cache.get(PODS, { namespace: 'n', name: 'b' }), /no informer that covers this read/);
    assert.throws(() => cache.list(PODS), /no informer that covers this read/);
  });

  test('get and list, of all and of a namespace', async () => {
    for (const name of ['a', 'b']) api.put(ALL, pod(name));
    api.put(ALL, pod('c', { namespace: 'other' }));
    api.put('/api/v1/nodes', { metadata: { name: 'node' } });
    const informers = [cache.informer(PODS), cache.informer(PODS, { fieldSelector: 'x=y' }), cache.informer(NODES)];
    start();
    await Promise.all(informers.map((informer) => informer.synced()));
    const names = (objects: KubeObject[]): unknown => objects.map(({ metadata }) => metadata?.name);
    assert.deepEqual(names(cache.list(PODS)), ['a', 'b', 'c']);
    assert.deepEqual(names(cache.list(PODS, { namespace: 'other' })), ['c']);
    assert.equal(cache.get(NODES, { name: 'node' })?.metadata?.name, 'node');
  });

  test('status names the informer and what it hangs on', async () => {
    api.fault(({ response }) => (response.destroy(), true));
    cache.informer(PODS);
    start();
    await clock.timer((ms) => ms === 800);
    const [entry] = cache.status();
    assert.equal(entry?.resource, 'pods');
    assert.equal(entry?.synced, false);
    assert.deepEqual([entry?.status.state, entry?.status.code, entry?.status.failures], ['waiting', 'ECONNRESET', 1]);
    assert.match(entry?.status.message ?? '', /cannot reach http:/);
  });

  test('stopping: who waits hears of it, and nothing is kept', async () => {
    api.fault(() => true);
    const informer = cache.informer(PODS);
    start();
    const waiting = informer.synced();
    const refused = assert.rejects(waiting, /the informer of pods was stopped/);
    await api.called(() => true);
    await cache.stop();
    await refused;
    assert.equal(informer.status.state, 'stopped');
  });
});

test('a server that was restored: all is listed anew, also what cannot be told from its own versions', async () => {
  const pods = cache.informer(PODS);
  const nodes = cache.informer(NODES);
  start();
  await Promise.all([pods.synced(), nodes.synced()]);
  for (const path of [ALL, '/api/v1/nodes']) await api.called((call) => call.watch && call.path === path);
  const diary = diaryOf(nodes);
  for (const name of ['a', 'b', 'c']) api.put('/api/v1/nodes', pod(name));
  await diary.until(3);
  const lists = (path: string) => api.calls.filter((call) => call.path === path && isList(call));
  api.restore(101); // What was seen of pods is from before.
  api.endWatches('end');
  await api.called((call) => call === lists(ALL)[1]);
  assert.equal(lists(ALL)[1]?.query.get('resourceVersion'), null);
  await api.called((call) => call === lists('/api/v1/nodes')[1]);
});
