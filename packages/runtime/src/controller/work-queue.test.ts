import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import fc from 'fast-check';
import type { Request } from './reconcile.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

const request = (name: string, cluster = '', namespace?: string): Request => ({ cluster, namespace, name });

function newQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock, ...options });
  /** What is ready now, in order; each is done at once. */
  const drain = async (): Promise<string[]> => {
    const names: string[] = [];
    while (queue.length > 0) {
      const next = (await queue.take()) as Request;
      names.push(next.cluster ? `${next.cluster}/${next.name}` : next.name);
      queue.done(next);
    }
    return names;
  };
  return { clock, queue, drain };
}

describe('WorkQueue', () => {
  test('an item stands in line once, first come first served', async () => {
    const { queue, drain } = newQueue();
    for (const name of ['a', 'b', 'a', 'c', 'b']) queue.add(request(name));
    assert.deepEqual(await drain(), ['a', 'b', 'c']);
  });

  test('an item that is added while it is worked on comes again after done, and not before', async () => {
    const { queue } = newQueue();
    queue.add(request('a'));
    const first = (await queue.take()) as Request;
    queue.add(request('a'));
    const taken: (Request | undefined)[] = [];
    const taking = queue.take().then((next) => taken.push(next));
    await new Promise(setImmediate);
    assert.equal(taken.length, 0);
    queue.done(first);
    await taking;
    assert.equal(taken[0]?.name, 'a');
  });

  test('who waits is served in turn', async () => {
    const { queue } = newQueue();
    const taken = [queue.take(), queue.take()];
    queue.add(request('a'));
    queue.add(request('b'));
    assert.deepEqual(
      (await Promise.all(taken)).map((next) => next?.name),
      ['a', 'b'],
    );
  });

  test('what failed of a cluster that is back is tried at once, and its next failure is a first one', async () => {
    const { queue, clock, drain } = newQueue({ initialDelayMs: 1_000 });
    for (const cluster of ['', 'edge']) {
      for (let failures = 0; failures < 5; failures++) queue.addRateLimited(request('failed', cluster));
      queue.addAfter(request('due later', cluster), 5_000);
    }
    clock.advance(100);
    queue.retryFailed('edge');
    assert.deepEqual(await drain(), ['edge/failed']);
    assert.equal(queue.failures(request('failed', 'edge')), 0);
    assert.equal(queue.failures(request('failed')), 5);
  });

  test('the earliest time counts', async () => {
    const { queue, clock, drain } = newQueue();
    queue.addAfter(request('a'), 500);
    queue.addAfter(request('a'), 200);
    queue.addAfter(request('a'), 900);
    assert.deepEqual(clock.pending(), [200]);
    clock.advance(199);
    assert.deepEqual(await drain(), []);
    clock.advance(1);
    assert.deepEqual(await drain(), ['a']);
    queue.addAfter(request('a'), 500);
    queue.add(request('a'));
    assert.deepEqual(await drain(), ['a']);
    assert.deepEqual(clock.pending(), []);
  });

  test('a time that comes while the item is worked on waits for done', async () => {
    const { queue, clock, drain } = newQueue();
    queue.add(request('a'));
    const first = (await queue.take()) as Request;
    queue.addAfter(first, 100);
    clock.advance(100);
    assert.equal(queue.length, 0);
    queue.done(first);
    assert.deepEqual(await drain(), ['a']);
  });

  test('the highest priority counts, and goes first', async () => {
    const { queue, drain } = newQueue();
    queue.add(request('low'), { priority: -100 });
    queue.add(request('raised'), { priority: -100 });
    queue.add(request('live'));
    queue.add(request('raised'));
    queue.add(request('live'), { priority: -100 });
    assert.deepEqual(await drain(), ['live', 'raised', 'low']);
  });

  test('clusters take turns, then namespaces', async () => {
    const { queue, drain } = newQueue();
    for (const name of ['1', '2', '3']) queue.add(request(name, 'big', 'x'));
    queue.add(request('4', 'big', 'y'));
    queue.add(request('5', 'small', 'x'));
    assert.deepEqual(await drain(), ['big/1', 'small/5', 'big/4', 'big/2', 'big/3']);
  });

  test('adding an item again does not cost it its turn', async () => {
    const { queue, drain } = newQueue();
    for (const name of ['a', 'b', 'a', 'a']) queue.add(request(name));
    assert.deepEqual(await drain(), ['a', 'b']);
  });

  test('a failing item waits twice as long each time, by itself, until it is forgotten', async () => {
    const { queue, clock, drain } = newQueue({ capDelayMs: 30 });
    for (const delay of [5, 10, 20, 30, 30]) {
      queue.addRateLimited(request('a'));
      assert.deepEqual(clock.pending(), [delay]);
      clock.advance(delay);
      await drain();
    }
    assert.equal(queue.failures(request('a')), 5);
    queue.addRateLimited(request('b'));
    assert.deepEqual(clock.pending(), [5]);
    queue.forget(request('a'));
    queue.addRateLimited(request('a'));
    assert.deepEqual(clock.pending(), [5, 5]);
  });

  test('a member cluster gets no more than its share of the workers; the local one does', async () => {
    const { queue } = newQueue({ perCluster: 1 });
    for (const name of ['1', '2']) queue.add(request(name, 'dead'));
    const first = (await queue.take()) as Request;
    queue.add(request('3', 'other'));
    assert.equal((await queue.take())?.cluster, 'other');
    const waiting = queue.take();
    queue.add(request('l1'));
    assert.equal((await waiting)?.name, 'l1');
    queue.add(request('l2'));
    assert.equal((await queue.take())?.name, 'l2');
    const last = queue.take();
    queue.done(first);
    assert.equal((await last)?.name, '2');
  });

  test('purge forgets what is in line, what waits and what failed, and waits for what is worked on', async () => {
    const { queue, clock, drain } = newQueue();
    queue.addRateLimited(request('failed', 'gone'));
    queue.add(request('running', 'gone'));
    const running = (await queue.take()) as Request;
    queue.add(request('ready', 'gone'));
    queue.add(running);
    queue.add(request('stays', 'other'));
    let purged = false;
    const purging = queue.purge('gone').then(() => (purged = true));
    await new Promise(setImmediate);
    assert.equal(purged, false);
    queue.done(running);
    await purging;
    clock.advance(60_000);
    assert.deepEqual(await drain(), ['other/stays']);
    assert.equal(queue.failures(request('failed', 'gone')), 0);
  });

  test('shutting down: nothing more is given out, and what is worked on is waited for', async () => {
    const { queue, clock } = newQueue();
    queue.add(request('a'));
    queue.add(request('b'));
    queue.addAfter(request('c'), 10);
    const first = (await queue.take()) as Request;
    let over = false;
    const ending = queue.shutDown().then(() => (over = true));
    assert.equal(await queue.take(), undefined);
    assert.equal(over, false);
    assert.deepEqual(clock.pending(), []);
    queue.done(first);
    await ending;
  });

  test('whatever happens: never two workers on an item, and nothing that was added is lost', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const cluster = fc.constantFrom('', 'x', 'y');
    const step = fc.oneof(
      fc.record({ do: fc.constant('add'), name, cluster, priority: fc.constantFrom(0, -100, 5) }),
      fc.record({ do: fc.constant('later'), name, cluster, ms: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ do: fc.constant('fail'), name, cluster }),
      fc.record({ do: fc.constant('take') }),
      fc.record({ do: fc.constant('done') }),
      fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 0, max: 50 }) }),
    );
    return fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { queue, clock } = newQueue({ perCluster: 1 });
        const working: Request[] = [];
        const owed = new Set<string>();
        const doubled: string[] = [];
        let waiting = 0;
        const key = (item: Request): string => `${item.cluster}/${item.name}`;
        const take = async (): Promise<void> => {
          waiting++;
          const item = (await queue.take()) as Request;
          waiting--;
          if (working.some((other) => key(other) === key(item))) doubled.push(key(item));
          owed.delete(key(item));
          working.push(item);
        };
        for (const todo of steps) {
          const item = 'name' in todo ? request(todo.name, todo.cluster) : undefined;
          if (item) owed.add(key(item));
          if (item && 'priority' in todo) queue.add(item, { priority: todo.priority });
          else if (item && 'ms' in todo) queue.addAfter(item, todo.ms);
          else if (item) queue.addRateLimited(item);
          else if (todo.do === 'take') void take();
          else if (todo.do === 'done' && working.length > 0) queue.done(working.shift() as Request);
          else if ('ms' in todo) clock.advance(todo.ms as number);
          await Promise.resolve();
        }
        clock.advance(2_000_000);
        for (;;) {
          await new Promise(setImmediate);
          if (queue.length === 0 && working.length === 0) break;
          while (working.length > 0) queue.done(working.shift() as Request);
          if (queue.length > 0 && waiting === 0) void take();
        }
        assert.deepEqual(doubled, []);
        assert.deepEqual([...owed], []);
      }),
      { numRuns: 200 },
    );
  });
});
