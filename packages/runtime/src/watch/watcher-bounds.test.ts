import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ListOptions, ReadLimitError, refuseReading } from '@asterism/client';
import { type KubeList, type Pod, PODS } from '@asterism/machinery';
import type { WatchableResource } from './watch-contract.ts';
import { watchResource } from './watcher.ts';

const tooLarge = (): ReadLimitError =>
  refuseReading({ limit: 'bytes', source: 'birch', use: 'list', excess: 'more than 1 byte' });

function resource(list: (options: ListOptions) => KubeList<Pod>): WatchableResource<Pod> & { asked: ListOptions[] } {
  const asked: ListOptions[] = [];
  return {
    asked,
    type: PODS,
    list: async (options = {}) => {
      asked.push(options);
      return list(options);
    },
    watch: () => ({
      forEach: () => new Promise(() => {}),
      async *[Symbol.asyncIterator]() {
        yield await new Promise<never>(() => {});
      },
    }),
  };
}

/** The names that a list tells of, up to its end or the first failure. */
async function follow(pods: WatchableResource<Pod>): Promise<{ names: string[]; failure: unknown }> {
  const over = new AbortController();
  const names: string[] = [];
  let failure: unknown;
  const onProgress = (progress: { state: string; error?: unknown }): void => {
    if (progress.state !== 'waiting') return;
    failure = progress.error;
    over.abort();
  };
  for await (const event of watchResource<Pod>(pods, { signal: over.signal, onProgress })) {
    if (event.type === 'InitApply') names.push(event.object.metadata?.name ?? '');
    if (event.type === 'InitDone') break;
  }
  return { names, failure };
}

test('a page that is too large is asked for again with fewer objects, from the newest that the server has', async () => {
  const pods = resource(({ limit = 0, continue: token }) => {
    if (limit > 10) throw tooLarge();
    const from = Number(token ?? 0);
    const items = Array.from({ length: Math.min(limit, 12 - from) }, (_, n) => ({
      metadata: { name: `p${from + n}` },
    }));
    const next = from + limit < 12 ? String(from + limit) : undefined;
    return { metadata: { resourceVersion: '7', ...(next ? { continue: next } : {}) }, items } as KubeList<Pod>;
  });
  const { names, failure } = await follow(pods);
  assert.equal(failure, undefined);
  assert.deepEqual(
    names,
    Array.from({ length: 12 }, (_, n) => `p${n}`),
  );
  assert.deepEqual(
    pods.asked.map(({ limit, resourceVersion, continue: token }) => [limit, resourceVersion, token]),
    [
      [500, '0', undefined],
      [500, undefined, undefined],
      [62, undefined, undefined],
      [7, undefined, undefined],
      [7, undefined, '7'],
    ],
  );
});

test('one object that is too large is a failure that is waited out', async () => {
  const { failure } = await follow(
    resource(() => {
      throw tooLarge();
    }),
  );
  assert.ok(failure instanceof ReadLimitError);
});

test('a list that never ends is a failure that is waited out', async () => {
  const pods = resource(() => ({ metadata: { continue: 'same' }, items: [] }) as unknown as KubeList<Pod>);
  const { failure } = await follow(pods);
  assert.ok(failure instanceof ReadLimitError && failure.limit === 'pages', String(failure));
  assert.equal(pods.asked.length, 2);
});

test('a list over a watch that never ends is a failure too', async () => {
  const pods: WatchableResource<Pod> = {
    ...resource(() => assert.fail('no pages')),
    listLimits: { maxPages: 1, maxObjects: 100, maxBytes: 1_000_000 },
    watch: () => ({
      async forEach(onEvent) {
        for (let n = 0; ; n++) await onEvent({ type: 'ADDED', object: { metadata: { name: `p${n}` } } as Pod }, 100);
      },
      async *[Symbol.asyncIterator]() {
        yield await new Promise<never>(() => {});
      },
    }),
  };
  const over = new AbortController();
  let failure: unknown;
  let objects = 0;
  const onProgress = (progress: { state: string; error?: unknown }): void => {
    if (progress.state !== 'waiting') return;
    failure = progress.error;
    over.abort();
  };
  const following = watchResource<Pod>(pods, { signal: over.signal, onProgress, initialList: 'stream' });
  for await (const { type } of following) if (type === 'InitApply') objects++;
  assert.ok(failure instanceof ReadLimitError && failure.limit === 'pages', String(failure));
  assert.ok(objects <= 100, `${objects} objects`);
});
