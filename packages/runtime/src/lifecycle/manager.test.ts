import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock, until } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from './manager.ts';
import type { Reconcile } from '../controller/reconcile.ts';
import { answer, FakeApi, failure, isList } from '../testing/fake-api.ts';
import { HandProvider } from '../testing/hand-provider.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ALL = '/api/v1/pods';
const pod = (name: string): KubeObject => ({ metadata: { name, namespace: 'n' } });

let hub: FakeApi;
let member: FakeApi;
let abort: AbortController;
let provider: HandProvider;
let manager: Manager;
let stopped: Promise<void>;

beforeEach(async () => {
  hub = await FakeApi.start();
  member = await FakeApi.start();
  abort = new AbortController();
  provider = new HandProvider();
  manager = createManager({
    client: hub.client(),
    providers: [provider],
    logger: silentLogger,
    random: () => 0,
    graceMs: 100,
  });
});

afterEach(async () => {
  abort.abort();
  await stopped?.catch(() => {});
  await hub[Symbol.asyncDispose]();
  await member[Symbol.asyncDispose]();
});

function run(): Promise<void> {
  stopped = manager.start(abort.signal);
  stopped.catch(() => {});
  return manager.ready();
}

function watcherOf(clusters: 'local' | 'members' | 'all', act: Reconcile = async () => {}, concurrency = 1) {
  const seen: string[] = [];
  const waiters: (() => void)[] = [];
  const reconcile: Reconcile = async (request, context) => {
    seen.push(`${request.cluster}/${request.name}`);
    for (const resolve of waiters.splice(0)) resolve();
    return act(request, context);
  };
  manager.add(createController({ name: `of ${clusters}`, reconcile, concurrency }).for(PODS, { clusters }));
  return {
    seen,
    async until(key: string): Promise<void> {
      while (!seen.includes(key)) await new Promise<void>((resolve) => waiters.push(resolve));
    },
  };
}

describe('clusters that come and go', () => {
  test('are watched by whom they concern, from their coming to their going', async () => {
    const [local, members, all] = [watcherOf('local'), watcherOf('members'), watcherOf('all')];
    const engaged: string[] = [];
    manager.onEngage(({ name }) => engaged.push(name));
    await run();
    hub.put(ALL, pod('here'));
    member.put(ALL, pod('there'));
    await local.until('/here');
    const engagement = provider.engage('m1', member.client());
    await Promise.all([members.until('m1/there'), all.until('m1/there'), all.until('/here')]);
    assert.deepEqual([local.seen, members.seen], [['/here'], ['m1/there']]);
    assert.deepEqual([engaged, manager.clusters().map(({ name }) => name)], [['m1'], ['m1']]);
    const cluster = manager.cluster('m1');
    assert.equal(cluster?.cache.get(PODS, { namespace: 'n', name: 'there' })?.metadata?.name, 'there');
    await member.called(({ watch }) => watch);
    assert.equal(member.calls.length, 1, 'one watch, which brings the list too, for both controllers');
    await engagement.disengage();
    assert.equal(cluster?.signal.aborted, true);
    assert.equal(manager.cluster('m1'), undefined);
    assert.throws(() => cluster?.cache.get(PODS, { namespace: 'n', name: 'there' }));
    member.put(ALL, pod('later'));
    provider.engage('m1', member.client());
    await members.until('m1/later');
  });

  test('one that a callback does not take is not engaged, and its name is free', async () => {
    const members = watcherOf('members');
    await run();
    member.put(ALL, pod('p'));
    const forgo = manager.onEngage(({ name }) => {
      if (name === 'm1') throw new Error('not this one');
    });
    assert.throws(() => provider.engage('m1', member.client()), /not this one/);
    const refused = manager.cluster('m1');
    forgo();
    while (manager.cluster('m1')) await new Promise(setImmediate);
    assert.equal(refused?.signal.aborted, true);
    provider.engage('m1', member.client());
    await members.until('m1/p');
    assert.throws(() => manager.onEngage(() => assert.fail('nor a callback that throws at once')), /nor a callback/);
    provider.engage('m2', member.client());
  });

  test('one that does not answer holds up nobody', async () => {
    const members = watcherOf('members');
    await run();
    member.fault(() => true);
    const engagement = provider.engage('silent', member.client());
    const other = await FakeApi.start();
    other.put(ALL, pod('p'));
    provider.engage('well', other.client());
    await members.until('well/p');
    await engagement.disengage();
    abort.abort();
    await stopped;
    await other[Symbol.asyncDispose]();
  });

  test('disengaging stops what is worked on, and forgets what failed', async () => {
    const clock = new ManualClock();
    manager = createManager({ client: hub.client(), providers: [provider], logger: silentLogger, clock });
    let told: AbortSignal | undefined;
    const members = watcherOf(
      'members',
      async ({ name }, { signal }) => {
        if (name === 'hangs') {
          told = signal;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }
        throw new Error('always');
      },
      4,
    );
    await run();
    member.put(ALL, pod('fails'));
    member.put(ALL, pod('hangs'));
    const engagement = provider.engage('m1', member.client());
    await Promise.all([members.until('m1/hangs'), members.until('m1/fails')]);
    await clock.timer((ms) => ms === 5);
    await engagement.disengage();
    assert.equal(told?.aborted, true);
    assert.deepEqual(
      clock.pending().filter((ms) => ms <= 1000),
      [],
    );
  });

  test('what fails in a cluster that gives no answer waits for its return', async () => {
    const clock = new ManualClock();
    manager = createManager({ client: hub.client(), providers: [provider], logger: silentLogger, clock });
    let tries = 0;
    watcherOf('members', async () => {
      if (++tries === 1) return { requeueAfter: 10 };
      throw new Error('always');
    });
    await run();
    member.put(ALL, pod('a'));
    const { cluster } = provider.engage('m1', member.client());
    await clock.timer((ms) => ms === 10);
    await member.called(({ watch }) => watch);
    member.endWatches('reset');
    await until(() => cluster.health() === 'Unreachable');
    clock.advance(10);
    await clock.timer((ms) => ms === 60_000);
    assert.equal(tries, 2);
    assert.ok(!clock.pending().includes(5));
    const returned = new Promise<void>((resolve) => cluster.onReturn(resolve));
    clock.advance(3_000); // The watch is tried again.
    await returned;
    await until(() => tries === 3);
  });

  test('new credentials: the store stays, the watch resumes without a list', async () => {
    const members = watcherOf('members');
    await run();
    member.put(ALL, pod('a'));
    const engagement = provider.engage('m1', member.client('old'));
    await members.until('m1/a');
    await member.called(({ watch }) => watch);
    const { replaced } = engagement.cluster;
    engagement.replaceClient(member.client('new'));
    assert.equal(replaced.aborted, true);
    assert.equal(engagement.cluster.replaced.aborted, false);
    assert.ok(engagement.cluster.cache.get(PODS, { namespace: 'n', name: 'a' }));
    await member.called((call) => call === member.calls.filter(({ watch }) => watch)[1]);
    member.put(ALL, pod('b'));
    await members.until('m1/b');
    assert.equal(member.calls.filter(isList).length, 1);
    assert.equal(members.seen.filter((key) => key === 'm1/a').length, 1);
  });

  test('health: connected, stale when an answer is a refusal, unreachable when there is none', async () => {
    const members = watcherOf('members');
    await run();
    member.put(ALL, pod('a'));
    const { cluster } = provider.engage('m1', member.client());
    assert.equal(cluster.health(), 'Connected');
    await members.until('m1/a');
    await member.called(({ watch }) => watch);
    const mend = member.fault(({ response }) => (answer(response, 403, failure(403, 'Forbidden')), true));
    member.endWatches('reset');
    await until(() => cluster.cache.status()[0]?.status.failures === 1);
    assert.equal(cluster.health(), 'Unreachable');
    await until(() => cluster.cache.status()[0]?.status.code === 403);
    assert.equal(cluster.health(), 'Stale');
    assert.ok(cluster.cache.get(PODS, { namespace: 'n', name: 'a' }), 'what is known stays readable');
    mend();
  });

  test('engaging: a name is free once, and only while the manager runs', async () => {
    await run();
    provider.engage('m1', member.client());
    assert.throws(() => provider.engage('m1', member.client()), /"m1" is engaged already/);
    assert.throws(() => provider.engage('', member.client()), /needs a name/);
    abort.abort();
    await stopped;
    assert.throws(() => provider.engage('m2', member.client()), /the manager is not running/);
  });
});

describe('stopping', () => {
  test('parts first, then controllers, then caches; what runs may end', async () => {
    const order: string[] = [];
    const working = Promise.withResolvers<void>();
    const local = watcherOf('local', async (_, { cluster }) => {
      await working.promise;
      order.push(`reconciled with ${cluster.cache.list(PODS).length}`);
    });
    manager.add({
      name: 'part',
      async run(signal) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        order.push('part');
        working.resolve();
      },
    });
    await run();
    hub.put(ALL, pod('a'));
    await local.until('/a');
    abort.abort();
    await stopped;
    assert.deepEqual(order, ['part', 'reconciled with 1']);
    assert.throws(() => manager.local.cache.informer(PODS), /the cache was stopped/);
  });

  test('what does not end is told to stop when the grace is over, and left', async () => {
    let signal: AbortSignal | undefined;
    const local = watcherOf('local', (_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    await run();
    hub.put(ALL, pod('a'));
    await local.until('/a');
    abort.abort();
    await stopped;
    assert.equal(signal?.aborted, true);
  });

  test('a part that fails stops the manager and is named', async () => {
    await run();
    manager.add({ name: 'fragile', run: () => Promise.reject(new Error('broke')) });
    await assert.rejects(stopped, /fragile failed: broke/);
  });

  test('a controller that is added later works too', async () => {
    hub.put(ALL, pod('a'));
    await run();
    const local = watcherOf('local');
    await local.until('/a');
  });
});
