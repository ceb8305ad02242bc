import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SubtreePool } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject } from '@asterism/machinery';
import { InformerCache } from './cache.ts';
import { silentLogger } from '../log/logger.ts';
import { answer, FakeApi, failure, isList } from '../testing/fake-api.ts';
import { ALL, CacheBed, NODES, pod, PODS } from './testing/cache-bed.ts';
import { Diary, diaryOf } from './testing/diary.ts';

let api: FakeApi;
let clock: ManualClock;
let cache: InformerCache;
let errors: string[];
let bed: CacheBed;

beforeEach(async () => {
  bed = await CacheBed.start();
  ({ api, clock, cache, errors } = bed);
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const start = (): void => cache.start(new AbortController().signal);

describe('an informer', () => {
  test('tells of what is there, what comes, changes and goes; the store is ahead of the handlers', async () => {
    api.put(ALL, pod('a'));
    const informer = cache.informer(PODS);
    const diary = diaryOf(informer);
    const sizes: number[] = [];
    informer.addHandler({
      onAdd: () => sizes.push(informer.store.size),
      onDelete: () => sizes.push(informer.store.size),
    });
    assert.equal(informer.hasSynced, false);
    start();
    await informer.synced();
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('b'));
    api.put(ALL, pod('a'));
    api.remove(ALL, 'b', 'n');
    assert.deepEqual(await diary.until(4), ['add a (initial)', 'add b', 'update a 101→103', 'delete b']);
    assert.deepEqual(sizes, [1, 2, 1]);
    assert.deepEqual(informer.store.keys(), ['n/a']);
    assert.equal(informer.status.resourceVersion, '104');
  });

  test('a new list: only what differs is told, what is the same stays the same object', async () => {
    for (const name of ['same', 'changed', 'gone']) api.put(ALL, pod(name));
    const informer = cache.informer(PODS);
    start();
    await informer.synced();
    await api.called(({ watch }) => watch);
    const same = informer.store.get('n/same');
    const diary = diaryOf(informer);
    await diary.until(3);
    // What follows happens while nobody watches, and its history is lost.
    api.endWatches('reset');
    await clock.timer((ms) => ms === 800);
    api.put(ALL, pod('changed'));
    api.remove(ALL, 'gone', 'n');
    api.put(ALL, pod('new'));
    api.compact();
    clock.advance(800);
    await clock.timer((ms) => ms === 1600);
    clock.advance(1600);
    assert.deepEqual((await diary.until(6)).slice(3), ['update changed 102→104', 'add new', 'delete gone (inferred)']);
    assert.equal(informer.store.get('n/same'), same);
  });

  test('a late handler is told of what is there; a removed one of nothing more', async () => {
    for (const name of ['a', 'b']) api.put(ALL, pod(name));
    const informer = cache.informer(PODS);
    start();
    await informer.synced();
    const diary = new Diary();
    const registration = informer.addHandler(diary);
    assert.equal(registration.hasSynced, true);
    assert.deepEqual(diary.lines, ['add a (initial)', 'add b (initial)']);
    registration.remove();
    const other = diaryOf(informer);
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('c'));
    await other.until(3);
    assert.equal(diary.lines.length, 2);
  });

  test('a handler that throws is reported, and harms nobody else', async () => {
    const informer = cache.informer(PODS);
    informer.addHandler({
      onAdd() {
        throw new Error('mine');
      },
    });
    const diary = diaryOf(informer);
    start();
    await informer.synced();
    await api.called(({ watch }) => watch);
    api.put(ALL, pod('a'));
    api.put(ALL, pod('b'));
    await diary.until(2);
    assert.deepEqual(errors, ['an informer handler failed', 'an informer handler failed']);
  });

  test('objects are frozen, without managedFields, and as the transform left them', async () => {
    api.put(ALL, { ...pod('a', { managedFields: [{ manager: 'm' }] }), spec: { deep: [{ x: 1 }] } });
    const transform = (object: KubeObject): KubeObject => ({ ...object, trimmed: true });
    const informer = cache.informer(PODS, { transform });
    start();
    await informer.synced();
    const object = informer.store.get('n/a') as KubeObject & { spec: { deep: { x: number }[] } };
    assert.equal(object['trimmed'], true);
    assert.equal(object.kind, 'Pod');
    assert.equal(object.metadata?.managedFields, undefined);
    assert.throws(() => ((object.spec.deep[0] as { x: number }).x = 2), TypeError);
  });

  test('equal parts of objects are one, in all caches of a pool', async () => {
    const subtrees = new SubtreePool();
    const other = new InformerCache(api.client(), { clock, random: () => 0, logger: silentLogger, subtrees });
    for (const name of ['a', 'b', 'c']) api.put(ALL, pod(name, { labels: { app: 'web' } }));
    const caches = [other, new InformerCache(api.client(), { clock, random: () => 0, logger: silentLogger, subtrees })];
    const informers = caches.map((each) => each.informer(PODS));
    for (const each of caches) each.start(new AbortController().signal);
    for (const informer of informers) await informer.synced();
    const labels = informers.flatMap(({ store }) => store.list().map(({ metadata }) => metadata?.labels));
    assert.equal(new Set(labels).size, 2, 'the first is not remembered before it comes again');
    await Promise.all(caches.map((each) => each.stop()));
  });

  test('metadata alone is asked for, and what comes besides is not kept', async () => {
    api.put(ALL, { ...pod('a', { labels: { app: 'web' } }), spec: { nodeName: 'x' } });
    const informer = cache.informer(PODS, { metadataOnly: true });
    assert.notEqual(cache.informer(PODS), informer);
    start();
    await informer.synced();
    const listed = informer.store.get('n/a');
    assert.deepEqual(Object.keys(listed ?? {}), ['apiVersion', 'kind', 'metadata']);
    assert.deepEqual([listed?.apiVersion, listed?.kind, listed?.metadata?.labels], ['v1', 'Pod', { app: 'web' }]);
    const accepted = api.calls.map(({ headers }) => headers.accept);
    assert.ok(
      accepted.some((accept) => accept?.startsWith('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,')),
    );
    const diary = diaryOf(informer);
    api.put(ALL, { ...pod('b'), spec: { nodeName: 'x' } });
    await diary.until(2);
    assert.equal(informer.store.get('n/b')?.['spec'], undefined);
  });

  test('fields: these alone are kept, and the same ones are one informer', async () => {
    const spec = {
      nodeName: 'x',
      containers: [
        { name: 'web', image: 'a' },
        { name: 'proxy', image: 'b' },
      ],
    };
    api.put(ALL, { ...pod('a'), spec, status: { phase: 'Running' } });
    const informer = cache.informer(PODS, { fields: ['spec.containers.image', 'spec.nodeName', 'status.missing'] });
    cache.informer(PODS, { fields: ['spec.containers.image', 'spec.nodeName', 'status.missing'] });
    assert.equal(cache.status().length, 1);
    start();
    await informer.synced();
    const { spec: kept, status } = informer.store.get('n/a') as KubeObject & { spec: typeof spec };
    assert.deepEqual(kept, { containers: [{ image: 'a' }, { image: 'b' }], nodeName: 'x' });
    assert.deepEqual(status, {});
    assert.ok(Object.isFrozen(kept.containers[0]));
    assert.equal(cache.get(PODS, { namespace: 'n', name: 'a' }), informer.store.get('n/a'), 'the only one there is');
    const whole = cache.informer(PODS);
    await whole.synced();
    assert.equal(cache.get(PODS, { namespace: 'n', name: 'a' }), whole.store.get('n/a'));
  });

  test('a server that sends no lists over watches is asked once, not by every informer', async () => {
    api.fault(({ query, response }) => {
      if (!query.has('sendInitialEvents')) return false;
      answer(response, 422, failure(422, 'Invalid'));
      return true;
    });
    api.put(ALL, pod('a'));
    const pods = cache.informer(PODS);
    start();
    await pods.synced();
    assert.deepEqual(pods.store.keys(), ['n/a']);
    await cache.informer(NODES).synced();
    assert.equal(api.calls.filter(({ query }) => query.has('sendInitialEvents')).length, 1);
    assert.equal(
      api.calls.filter((call) => !isList(call) && !call.watch).length,
      0,
      'nothing was seen that could be lost',
    );
    assert.equal(pods.status.failures, 0);
  });

  test('a server too old to know of lists over watches is not asked for one', async () => {
    api.version = { major: '1', minor: '20+' };
    api.put(ALL, pod('a'));
    const pods = cache.informer(PODS);
    start();
    await pods.synced();
    assert.deepEqual(pods.store.keys(), ['n/a']);
    assert.ok(!api.calls.some(({ query }) => query.has('sendInitialEvents')));
  });

  test('a transform that throws is reported, and the object is kept as it came', async () => {
    api.put(ALL, pod('a'));
    const informer = cache.informer(PODS, {
      transform() {
        throw new Error('mine');
      },
    });
    start();
    await informer.synced();
    assert.ok(informer.store.get('n/a'));
    assert.match(errors[0] ?? '', /transform failed/);
  });

  test('indexes follow every change', async () => {
    api.put(ALL, pod('a', { labels: { node: 'x' } }));
    const informer = cache.informer(PODS);
    const byNode = ({ metadata }: KubeObject): string[] => Object.values(metadata?.labels ?? {});
    informer.addIndex('node', byNode);
    informer.addIndex('node', byNode);
    assert.throws(() => informer.addIndex('node', () => []), /another index "node"/);
    assert.throws(() => informer.store.byIndex('zone', 'x'), /no index "zone"/);
    const names = (value: string): (string | undefined)[] =>
      informer.store.byIndex('node', value).map(({ metadata }) => metadata?.name);
    const diary = diaryOf(informer);
    start();
    await informer.synced();
    await api.called(({ watch }) => watch);
    assert.deepEqual(names('x'), ['a']);
    api.put(ALL, pod('b', { labels: { node: 'x' } }));
    api.put(ALL, pod('a', { labels: { node: 'y' } }));
    await diary.until(3);
    assert.deepEqual([names('x'), names('y')], [['b'], ['a']]);
    api.remove(ALL, 'a', 'n');
    await diary.until(4);
    assert.deepEqual(names('y'), []);
  });
});
