import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Clock, systemClock } from '@asterism/client';
import { CONFIG_MAPS, type ConfigMap } from '@asterism/machinery';
import type { WatcherProgress } from '@asterism/runtime';
import { SEARCH_CLUSTER_ANNOTATION } from '../cluster-annotation.ts';
import { type Member, startMember } from '../testing/member.ts';
import { type ObservedStore, observeStore } from '../testing/observed-store.ts';
import { openStore } from '../testing/open-store.ts';
import { indexedResourceClient } from './indexed-resource-client.ts';
import { type SyncSourceOptions, syncSource } from './sync-source.ts';

const SOURCE = { cluster: 'alpha', group: '', version: 'v1', resource: 'configmaps' };

let member: Member;
let store: ObservedStore;
const running: { end: AbortController; done: Promise<void> }[] = [];

beforeEach(async () => {
  store = observeStore(await openStore());
  member = await startMember();
});

afterEach(async () => {
  for (const { end, done } of running.splice(0)) {
    end.abort();
    await done.catch(() => {});
  }
  await store.close();
  await member[Symbol.asyncDispose]();
});

/** Waits are cut to a hundredth, but for those of a batch. */
const hurried: Clock = {
  ...systemClock,
  setTimer: (callback, ms, options) => systemClock.setTimer(callback, ms > 500 && ms < 10_000 ? ms / 100 : ms, options),
};

function sync(options: Partial<SyncSourceOptions> = {}) {
  const end = new AbortController();
  const told: WatcherProgress[] = [];
  const looking = new Set<() => void>();
  const done = syncSource({
    cluster: 'alpha',
    type: CONFIG_MAPS,
    store,
    watched: () => ({ client: indexedResourceClient(member.client, CONFIG_MAPS) }),
    signal: end.signal,
    clock: hurried,
    random: () => 0,
    onProgress: (progress) => {
      told.push(progress);
      for (const look of looking) look();
    },
    ...options,
  });
  running.push({ end, done });
  return {
    done,
    told,
    async stop() {
      end.abort();
      await done;
    },
    /** Resolves when it is in that state, or was. */
    async reached(state: WatcherProgress['state'], resourceVersion?: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = (): void => {
        const is = (progress: WatcherProgress): boolean =>
          progress.state === state &&
          (resourceVersion === undefined ||
            ('resourceVersion' in progress && progress.resourceVersion === resourceVersion));
        if (told.some(is)) resolve();
      };
      looking.add(look);
      look();
      await promise;
    },
  };
}

const stored = () => store.names('configmaps');
const lists = () => member.asked.filter((path) => !path.includes('watch=true'));
const watches = () => member.asked.filter((path) => path.includes('watch=true'));

describe('a source', () => {
  test('is listed, then follows what changes', async () => {
    await member.put('a', 'b');
    await sync().reached('watching');
    assert.deepEqual(await stored(), ['alpha/default/a', 'alpha/default/b']);
    await member.put('c');
    await member.remove('a');
    await member.change('b');
    await store.until(async () => (await stored()).join() === 'alpha/default/b,alpha/default/c');
    await store.until(async () => {
      const { rows } = await store.query({ names: ['b'] });
      return (JSON.parse(Buffer.from(rows[0]?.object ?? '').toString()) as ConfigMap).data?.['changed'] === 'yes';
    });
    assert.equal(lists().length, 1);
  });

  test('keeps the bytes: what is stored is the object, without managedFields, with its kind and cluster', async () => {
    await member.put('a');
    await sync().reached('watching');
    await member.put('b');
    await store.until(async () => (await stored()).length === 2);
    for (const row of (await store.query({})).rows) {
      const live = await member.server.client.resource(CONFIG_MAPS).get({ namespace: 'default', name: row.name });
      const { managedFields: _, ...metadata } = live.metadata ?? {};
      const annotations = { [SEARCH_CLUSTER_ANNOTATION]: 'alpha' };
      const expected = { ...live, apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, annotations } };
      assert.deepEqual(JSON.parse(Buffer.from(row.object).toString()), expected);
      assert.equal(row.uid, metadata.uid);
      assert.equal(row.resourceVersion, metadata.resourceVersion);
      assert.equal(row.createdAt, Date.parse(metadata.creationTimestamp ?? ''));
    }
  });

  test('comes in pages of 500, from the newest state and not from a cache that knows no pages', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `map-${index}`);
    for (let from = 0; from < names.length; from += 100) await member.put(...names.slice(from, from + 100));
    await sync().reached('watching');
    assert.deepEqual(store.writes, ['list configmaps 500', 'list configmaps 1', 'finish configmaps']);
    assert.equal((await stored()).length, 501);
    const [first = '', second = ''] = lists();
    assert.equal(first, '/api/v1/configmaps?limit=500');
    assert.match(second, /limit=500&continue=/);
  });

  test('changes are gathered: a burst is one write', async () => {
    await sync().reached('watching');
    await member.put('a', 'b', 'c');
    await store.until(async () => (await stored()).length === 3);
    assert.ok(store.writes.length <= 3, store.writes.join('; '));
    assert.match(store.writes[1] ?? '', /^change configmaps (\+[abc] ?)+$/);
  });

  test('of several changes of an object within a write the last one counts', async () => {
    await sync().reached('watching');
    await member.put('a', 'b');
    await member.remove('a');
    await member.put('a');
    await member.remove('b');
    await store.until(async () => (await stored()).join() === 'alpha/default/a');
  });

  test('started again it goes on where it was: no list, and nothing is written that did not change', async () => {
    await member.put('a', 'b');
    const before = sync();
    await before.reached('watching');
    await member.change('a');
    await store.until(() => store.writes.some((write) => write.includes('+a')));
    await before.stop();
    await member.put('c');
    member.asked.length = 0;
    store.writes.length = 0;
    const after = sync();
    await store.until(async () => (await stored()).length === 3);
    await after.stop();
    assert.deepEqual(lists(), []);
    assert.deepEqual(store.writes, ['change configmaps +c']);
  });

  test('stopped and started with nothing changed it writes nothing at all', async () => {
    await member.put('a');
    const before = sync();
    await before.reached('watching');
    await before.stop();
    store.writes.length = 0;
    const after = sync();
    await after.reached('watching');
    await after.stop();
    assert.deepEqual(store.writes, []);
  });

  test('when it stops, what was read is written at once', async () => {
    const { reached, stop } = sync({ clock: { ...systemClock, setTimer: () => () => {} } });
    await reached('watching');
    const created = await member.server.client
      .resource(CONFIG_MAPS)
      .create({ metadata: { name: 'a', namespace: 'default' } });
    await reached('watching', created.metadata?.resourceVersion);
    assert.deepEqual(await stored(), []);
    await stop();
    assert.deepEqual(await stored(), ['alpha/default/a']);
    assert.equal((await store.source(SOURCE)).watermark, created.metadata?.resourceVersion);
  });

  test('history that is gone (410) is listed anew: what went meanwhile goes, what came is there', async () => {
    await member.put('a', 'b');
    const before = sync();
    await before.reached('watching');
    await before.stop();
    await member.remove('a');
    await member.put('c');
    const mend = member.refuse(({ path }) => path.includes('watch=true'), 410);
    const { told, reached } = sync();
    await store.until(() => store.writes.filter((write) => write === 'finish configmaps').length === 2);
    mend();
    await reached('watching');
    assert.deepEqual(await stored(), ['alpha/default/b', 'alpha/default/c']);
    assert.deepEqual(
      told.slice(0, 2).map(({ state }) => state),
      ['waiting', 'listing'],
    );
  });

  test('a member that fails is waited for; its rows stay', async () => {
    await member.put('a');
    const before = sync();
    await before.reached('watching');
    await before.stop();
    const mend = member.refuse(() => true, 503);
    const { reached } = sync();
    await reached('waiting');
    assert.deepEqual(await stored(), ['alpha/default/a']);
    mend();
    await reached('watching');
    assert.ok(watches().length > 1);
  });

  test('a store that fails ends it, and nothing is lost: the next run goes on from what was stored', async () => {
    await member.put('a');
    const { reached, done } = sync();
    await reached('watching');
    store.failNext(new Error('no space'));
    await member.put('b');
    await assert.rejects(done, /no space/);
    assert.deepEqual(await stored(), ['alpha/default/a']);
    member.asked.length = 0;
    sync();
    await store.until(async () => (await stored()).length === 2);
    assert.deepEqual(lists(), []);
  });

  test('of some namespaces alone: others are not stored, and no other run goes on from there', async () => {
    await member.put('a');
    const maps = member.server.client.resource(CONFIG_MAPS);
    await maps.create({ metadata: { name: 'elsewhere', namespace: 'kube-public' } });
    const some = sync({ namespaces: ['kube-public'] });
    await some.reached('watching');
    await maps.create({ metadata: { name: 'later', namespace: 'kube-public' } });
    await member.put('b');
    await store.until(async () => (await stored()).length === 2);
    await some.stop();
    assert.deepEqual(await stored(), ['alpha/kube-public/elsewhere', 'alpha/kube-public/later']);
    assert.equal((await store.source(SOURCE)).watermark || undefined, undefined);
    await sync().reached('watching');
    assert.deepEqual((await stored()).length, 4);
  });
});
