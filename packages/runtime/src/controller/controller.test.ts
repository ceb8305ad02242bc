import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { createController, type Enqueue } from './controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from '../lifecycle/manager.ts';
import { annotationsChanged, anyOf, generationChanged, labelsChanged } from './predicate.ts';
import { type ReconcileContext, type Request, type Result, TerminalError } from './reconcile.ts';
import { answer, FakeApi, failure } from '../testing/fake-api.ts';

const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };
const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ALL_SETS = '/apis/apps/v1/sets';
const ALL_PODS = '/api/v1/pods';
const set = (name: string, more: object = {}): KubeObject => ({
  metadata: { name, namespace: 'n', generation: 1, ...more },
});

let api: FakeApi;
let abort: AbortController;
let manager: Manager;
let stopped: Promise<void> | undefined;

beforeEach(async () => {
  api = await FakeApi.start();
  abort = new AbortController();
  manager = createManager({ client: api.client(), logger: silentLogger, random: () => 0 });
});

afterEach(async () => {
  abort.abort();
  await stopped;
  await api[Symbol.asyncDispose]();
});

function run(): Promise<void> {
  stopped = manager.start(abort.signal);
  return manager.ready();
}

/** A reconcile whose calls a test can await one by one; by default it does nothing. */
function recorder(
  act: (request: Request, context: ReconcileContext, nth: number) => Promise<Result | void> | Result | void = () => {},
) {
  const seen: Request[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  const reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    seen.push(request);
    for (const { count, resolve } of waiters) if (seen.length >= count) resolve();
    return act(request, context, seen.length);
  };
  const names = async (count: number): Promise<string[]> => {
    if (seen.length < count) await new Promise<void>((resolve) => waiters.push({ count, resolve }));
    return seen.map(({ name }) => name);
  };
  return { seen, reconcile, names };
}

describe('a controller', () => {
  test('reconciles what is there, what comes, what changes and what goes', async () => {
    api.put(ALL_SETS, set('old'));
    const { seen, reconcile, names } = recorder();
    manager.add(createController({ name: 'test', reconcile }).for(SETS));
    await run();
    assert.deepEqual(await names(1), ['old']);
    assert.deepEqual(seen[0], { cluster: '', namespace: 'n', name: 'old' });
    api.put(ALL_SETS, set('new'));
    assert.deepEqual(await names(2), ['old', 'new']);
    api.put(ALL_SETS, set('old'));
    assert.deepEqual((await names(3)).at(-1), 'old');
    api.remove(ALL_SETS, 'new', 'n');
    assert.deepEqual((await names(4)).at(-1), 'new');
    assert.equal(manager.local.cache.get(SETS, { namespace: 'n', name: 'new' }), undefined);
  });

  test('owns: the controlling owner of its kind is asked for, in whatever version it was written', async () => {
    const { names, reconcile } = recorder();
    manager.add(createController({ name: 'test', reconcile }).for(SETS).owns(PODS));
    await run();
    const owned = (name: string, owner: object): KubeObject => ({
      metadata: {
        name,
        namespace: 'n',
        ownerReferences: [{ apiVersion: 'apps/v1beta1', kind: 'Set', uid: 'u', name: 'web', ...owner }],
      },
    });
    api.put(ALL_PODS, owned('not-controlling', { name: 'x' }));
    api.put(ALL_PODS, owned('other-group', { name: 'x', apiVersion: 'batch/v1', controller: true }));
    api.put(ALL_PODS, owned('other-kind', { name: 'x', kind: 'Other', controller: true }));
    api.put(ALL_PODS, owned('child', { controller: true }));
    assert.deepEqual(await names(1), ['web']);
  });

  test('watches: maps what an object was and what it has become', async () => {
    const { names, reconcile } = recorder();
    const map = ({ metadata }: KubeObject): Request[] => [{ cluster: '', name: metadata?.labels?.['of'] ?? 'none' }];
    manager.add(createController({ name: 'test', reconcile }).watches(PODS, map));
    await run();
    api.put(ALL_PODS, set('p', { labels: { of: 'a' } }));
    await names(1);
    api.put(ALL_PODS, set('p', { labels: { of: 'b' } }));
    assert.deepEqual(await names(3), ['a', 'a', 'b']);
  });

  test('predicates: only what passes all of them', async () => {
    const { names, reconcile } = recorder();
    const predicates = [anyOf(generationChanged, labelsChanged, annotationsChanged), { delete: () => false }];
    manager.add(createController({ name: 'test', reconcile }).for(SETS, { predicates }));
    await run();
    api.put(ALL_SETS, set('a'));
    await names(1);
    api.put(ALL_SETS, { ...set('a'), status: { ready: 1 } });
    api.put(ALL_SETS, set('b'));
    await names(2);
    api.remove(ALL_SETS, 'b', 'n');
    api.put(ALL_SETS, set('a', { generation: 2 }));
    await names(3);
    api.put(ALL_SETS, set('a', { generation: 2, labels: { x: 'y' } }));
    await names(4);
    api.put(ALL_SETS, set('a', { generation: 2, labels: { x: 'y' }, annotations: { x: 'y' } }));
    assert.deepEqual(await names(5), ['a', 'b', 'a', 'a', 'a']);
  });

  test('source: events from elsewhere, until the signal', async () => {
    const { names, reconcile } = recorder();
    let enqueue: Enqueue | undefined;
    let signal: AbortSignal | undefined;
    manager.add(
      createController({ name: 'test', reconcile }).source((toQueue, until) => {
        enqueue = toQueue;
        signal = until;
      }),
    );
    await run();
    enqueue?.({ cluster: '', name: 'late' }, { afterMs: 5 });
    enqueue?.({ cluster: '', name: 'now' });
    assert.deepEqual(await names(2), ['now', 'late']);
    assert.equal(signal?.aborted, false);
    abort.abort();
    await stopped;
    assert.equal(signal?.aborted, true);
  });

  test('an error is tried again, a terminal one is not, requeueAfter comes back', async () => {
    const attempts = new Map<string, number>();
    const { names, reconcile } = recorder(({ name }) => {
      const nth = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, nth);
      if (name === 'error' && nth < 3) throw new Error('not yet');
      if (name === 'terminal') throw new TerminalError('never');
      if (name === 'later' && nth < 3) return { requeueAfter: 10 };
      return undefined;
    });
    manager.add(createController({ name: 'test', reconcile }).for(SETS));
    await run();
    for (const name of ['terminal', 'error', 'later']) api.put(ALL_SETS, set(name));
    await names(7);
    api.put(ALL_SETS, set('last'));
    assert.deepEqual((await names(8)).sort(), [
      'error',
      'error',
      'error',
      'last',
      'later',
      'later',
      'later',
      'terminal',
    ]);
  });

  test('a reconcile that takes too long is told to stop, and tried again', async () => {
    const reasons: string[] = [];
    const { names, reconcile } = recorder(async (_, { signal }, nth) => {
      if (nth > 1) return;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(String(signal.reason));
      signal.throwIfAborted();
    });
    manager.add(createController({ name: 'test', reconcile, timeoutMs: 20 }).for(SETS));
    await run();
    api.put(ALL_SETS, set('slow'));
    await names(2);
    assert.deepEqual(reasons, ['Error: reconcile took more than 20 ms']);
  });

  test('reads nothing before all that it watches is in the cache; a kind that is refused is named', async () => {
    api.put(ALL_SETS, set('a'));
    const mend = api.fault(
      ({ path, response }) => path === ALL_PODS && (answer(response, 403, failure(403, 'Forbidden')), true),
    );
    const { names, seen, reconcile } = recorder();
    manager.add(createController({ name: 'test', reconcile }).for(SETS).owns(PODS));
    const ready = run();
    await api.called(({ path, watch }) => path === ALL_SETS && watch);
    await api.called(({ path }) => path === ALL_PODS);
    await new Promise(setImmediate);
    assert.equal(seen.length, 0);
    const hanging = manager.local.cache.status().find(({ resource }) => resource === 'pods');
    assert.equal(hanging?.synced, false);
    mend();
    await ready;
    assert.deepEqual(await names(1), ['a']);
  });

  test('the next reconcile of an object waits until the cache has what the last one wrote', async () => {
    const found: unknown[] = [];
    const { names, reconcile } = recorder(async ({ name, namespace }, { cluster }, nth) => {
      if (nth === 1) {
        await cluster.client.resource(PODS).create({ metadata: { name: 'child', namespace: 'n' } });
        return { requeueAfter: 1 };
      }
      found.push(cluster.cache.get(PODS, { namespace, name: 'child' })?.metadata?.name, name);
      return undefined;
    });
    manager.add(createController({ name: 'test', reconcile }).for(SETS).owns(PODS));
    await run();
    // The event of the write comes late: the watch of pods is held back until the second reconcile is due.
    const { response } = await api.called(({ path, watch }) => path === ALL_PODS && watch);
    response.cork();
    api.put(ALL_SETS, set('web'));
    await names(1);
    await api.called(({ method }) => method === 'POST');
    setTimeout(() => response.uncork(), 30);
    await names(2);
    assert.deepEqual(found, ['child', 'web']);
  });

  const child = (owner: string, generation = 1): KubeObject => ({
    metadata: {
      name: `of-${owner}`,
      namespace: 'n',
      generation,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Set', name: owner, uid: owner, controller: true }],
    },
  });

  /** A controller that makes the child of `web`, once, and is then held until `release`. */
  function makingChildren(ownWrites: 'ask' | 'ignore' | undefined) {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const { names, reconcile } = recorder(async ({ name }, { cluster }, nth) => {
      if (name !== 'web' || nth > 1) return;
      await cluster.client.resource(PODS).create(child(name));
      await promise;
    });
    manager.add(createController({ name: 'test', reconcile }).for(SETS).owns(PODS, { ownWrites }));
    return { names, release };
  }

  for (const [ownWrites, expected] of [
    [undefined, ['last', 'other', 'web', 'web']],
    ['ignore', ['last', 'other', 'web']],
  ] as const) {
    test(`ownWrites ${ownWrites ?? 'by default'}: ${expected.join(', ')}, where web writes its own child`, async () => {
      const { names, release } = makingChildren(ownWrites);
      await run();
      api.put(ALL_SETS, set('web'));
      await api.called(({ method }) => method === 'POST');
      release();
      for (const owner of ['other', 'last']) api.put(ALL_PODS, child(owner));
      assert.deepEqual((await names(expected.length)).toSorted(), expected);
    });
  }

  test('ownWrites: what others have changed while a request was worked on asks for it', async () => {
    const { names, release } = makingChildren('ignore');
    await run();
    api.put(ALL_SETS, set('web'));
    await api.called(({ method }) => method === 'POST');
    const seen = new Promise<void>((resolve) => {
      manager.local.cache.informer(PODS).addHandler({ onUpdate: () => resolve() });
    });
    api.put(ALL_PODS, child('web', 2));
    await seen;
    release();
    assert.deepEqual(await names(2), ['web', 'web']);
  });

  test('gather: what asks for a request while it waits joins it', async () => {
    const { names, seen, reconcile } = recorder();
    let left = 1;
    const gather = ({ name }: Request): number => (name === 'web' ? left : 0);
    manager.add(createController({ name: 'test', reconcile, gather }).for(SETS));
    await run();
    for (let generation = 1; generation <= 3; generation++) api.put(ALL_SETS, set('web', { generation }));
    api.put(ALL_SETS, set('other'));
    assert.deepEqual(await names(1), ['other']);
    left = 0;
    assert.deepEqual(await names(2), ['other', 'web']);
    api.put(ALL_SETS, set('last'));
    await names(3);
    assert.deepEqual(
      seen.map(({ name }) => name),
      ['other', 'web', 'last'],
    );
  });

  test('says what is wrong with its description', () => {
    const controller = createController({ name: 'test', reconcile: async () => {} });
    assert.throws(() => controller.owns(PODS), /controller test: owns\(\) needs to know the owner/);
    assert.throws(() => controller.for(SETS).for(PODS), /for\(\) was called already/);
    assert.throws(() => manager.add({ name: 'neither' }), /neither is neither a controller/);
  });
});
