import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { QueueInstruments } from '../instruments/instruments.ts';
import type { Request } from './reconcile.ts';
import { INITIAL_PRIORITY, WorkQueue } from './work-queue.ts';

const request = (name: string, cluster = ''): Request => ({ cluster, name });

function measuredQueue() {
  const told: string[] = [];
  const clock = new ManualClock();
  let now = 0;
  const instruments: QueueInstruments = {
    added: (cluster) => told.push(`${cluster} added`),
    taken: (cluster, ms) => told.push(`${cluster} taken after ${ms}`),
    done: (cluster, ms) => told.push(`${cluster} done in ${ms}`),
    retried: (cluster) => told.push(`${cluster} retried`),
  };
  const queue = new WorkQueue({ clock, instruments, monotonic: () => now });
  const pass = (ms: number): void => void (now += ms);
  return { queue, clock, told, pass };
}

test('a queue tells of each item once, with the time from when it was to be done', async () => {
  const { queue, told, pass } = measuredQueue();
  queue.add(request('a', 'm1'));
  pass(10);
  queue.add(request('a', 'm1'));
  pass(10);
  const taken = (await queue.take()) as Request;
  pass(5);
  queue.add(request('a', 'm1')); // Comes again when it is done; it is in line from here on.
  pass(5);
  queue.done(taken);
  pass(1);
  queue.done((await queue.take()) as Request);
  assert.deepEqual(told, [
    'm1 added',
    'm1 taken after 20',
    'm1 added',
    'm1 done in 10',
    'm1 taken after 6',
    'm1 done in 0',
  ]);
});

test('an item that waits for its time counts as a retry, and is in line when its time has come', async () => {
  const { queue, clock, told, pass } = measuredQueue();
  queue.addRateLimited(request('a'));
  queue.addAfter(request('b'), 1_000);
  assert.deepEqual(queue.loads(), new Map());
  clock.advance(5);
  pass(1);
  await queue.take();
  assert.deepEqual(told, [' retried', ' retried', ' added', ' taken after 1']);
});

test('what stands in a queue, by cluster and priority, and for how long it is worked on', async () => {
  const { queue, pass } = measuredQueue();
  for (const name of ['a', 'b', 'c']) queue.add(request(name), { priority: INITIAL_PRIORITY });
  queue.add(request('d', 'm1'));
  const first = (await queue.take()) as Request;
  pass(10);
  const second = (await queue.take()) as Request;
  queue.add(second);
  pass(5);
  assert.deepEqual([first.name, second.name], ['d', 'a']);
  assert.deepEqual(
    queue.loads(),
    new Map([
      // Asked for anew while it is worked on, by a live change.
      [
        '',
        {
          depth: new Map([
            [0, 1],
            [INITIAL_PRIORITY, 2],
          ]),
          working: 1,
          unfinishedMs: 5,
          longestMs: 5,
        },
      ],
      ['m1', { depth: new Map(), working: 1, unfinishedMs: 15, longestMs: 15 }],
    ]),
  );
});
