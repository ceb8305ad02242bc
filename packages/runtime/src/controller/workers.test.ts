import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { LOCAL_CLUSTER, type Request } from './reconcile.ts';
import { WorkQueue } from './work-queue.ts';
import { Workers } from './workers.ts';

/** Workers whose items end when a test says so. */
function working(concurrency: number, silent: readonly string[]) {
  const clock = new ManualClock();
  const queue = new WorkQueue({ clock, perCluster: 1 });
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const work = ({ cluster, name }: Request): Promise<void> => {
    begun.push(`${cluster}/${name}`);
    return new Promise((resolve) => ends.set(`${cluster}/${name}`, resolve));
  };
  const silentMs = (cluster: string): number => (silent.includes(cluster) ? clock.wall().getTime() : 0);
  const workers = new Workers({ queue, clock, work, silentMs });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  const end = async (item: string): Promise<void> => {
    ends.get(item)?.();
    await turn();
  };
  /** `cluster/name`. */
  const add = async (...items: string[]): Promise<void> => {
    for (const item of items) queue.add({ cluster: item.slice(0, item.indexOf('/')), name: item.slice(-1) });
    await turn();
  };
  workers.start(concurrency);
  return { queue, workers, begun, add, pass, end };
}

test('whoever waits for a silent cluster is replaced after 5 s, and ends when that is over', async () => {
  const { begun, add, pass, end } = working(2, ['oslo', 'rome']);
  await add('oslo/1', 'rome/1', 'bern/1', 'bern/2', 'cork/1');
  assert.deepEqual(begun, ['oslo/1', 'rome/1']);
  await pass(4_999);
  assert.equal(begun.length, 2);
  await pass(1);
  assert.deepEqual(begun.slice(2), ['bern/1', 'cork/1']);
  await end('oslo/1');
  await end('rome/1');
  assert.equal(begun.length, 4, 'who was replaced takes nothing more');
  await end('cork/1');
  await end('bern/1');
  assert.deepEqual(begun.slice(4), ['bern/2']);
});

test('one that is slow but answers keeps its worker, and so does the local cluster', async () => {
  const { begun, add, pass } = working(1, [LOCAL_CLUSTER]);
  await add('bern/1', 'cork/1');
  await pass(60_000);
  assert.deepEqual(begun, ['bern/1']);
  const local = working(1, [LOCAL_CLUSTER]);
  await local.add(`${LOCAL_CLUSTER}/1`, 'cork/1');
  await local.pass(60_000);
  assert.equal(local.begun.length, 1);
});

test('they have ended when the queue is shut down and the last one is done, replaced ones too', async () => {
  const { queue, workers, begun, add, pass, end } = working(1, ['oslo']);
  await add('oslo/1', 'bern/1');
  await pass(5_000);
  assert.equal(begun.length, 2);
  let ended = false;
  const drained = queue.shutDown();
  const all = workers.ended().then(() => (ended = true));
  await end('bern/1');
  assert.equal(ended, false);
  await end('oslo/1');
  await drained;
  await all;
});
