import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SubtreePool } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { InformerCache } from './cache.ts';
import type { Informer, InformerHandler } from './informer.ts';
import { type Logger, silentLogger } from '../log/logger.ts';
import { answer, FakeApi, failure, isList } from '../testing/fake-api.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const NODES: ResourceType = { group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false };
const ALL = '/api/v1/pods';
const pod = (name: string, more: object = {}): KubeObject => ({ metadata: { name, namespace: 'n', ...more } });

let api: FakeApi;
let clock: ManualClock;
let cache: InformerCache;
let errors: string[];

beforeEach(async () => {
  api = await FakeApi.start();
  clock = new ManualClock();
  errors = [];
  const logger: Logger = { ...silentLogger, error: (_, message) => errors.push(message) };
  cache = new InformerCache(api.client(), { clock, random: () => 0, logger });
});

afterEach(async () => {
  await cache.stop();
  await api[Symbol.asyncDispose]();
});

const start = (): void => cache.start(new AbortController().signal);

/** What handlers were told, awaited by count. */
class Diary implements InformerHandler {
  readonly lines: string[] = [];
  readonly #waiters: (() => void)[] = [];

  onAdd({ metadata }: KubeObject, initial: boolean): void {
    this.#write(`add ${metadata?.name}${initial ? ' (initial)' : ''}`);
  }

  onUpdate(before: KubeObject, after: KubeObject): void {
    this.#write(
      `update ${after.metadata?.name} ${before.metadata?.resourceVersion}→${after.metadata?.resourceVersion}`,
    );
  }

  onDelete({ metadata }: KubeObject, inferred: boolean): void {
    this.#write(`delete ${metadata?.name}${inferred ? ' (inferred)' : ''}`);
  }

  async until(count: number): Promise<string[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.lines;
  }

  #write(line: string): void {
    this.lines.push(line);
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

/** Follows every handler of an informer's test at once. */
function diaryOf(informer: Informer): Diary {
  const diary = new Diary();
  informer.addHandler(diary);
  return diary;
}

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
