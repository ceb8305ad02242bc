import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { failure, type ResourceType } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { KindInformers } from './kind-informers.ts';

const WIDGET = { apiVersion: 'example.org/v1', kind: 'Widget' };
const TYPE: ResourceType = {
  group: 'example.org',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

/** A cluster that serves the kind from its `served`th answer on, and how often it was asked anew. */
function lateCluster(served: number) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const told = { asked: 0, opened: 0 };
  const typeFor = (): Promise<ResourceType> => {
    told.asked += 1;
    return told.asked >= served ? Promise.resolve(TYPE) : Promise.reject(failure(404, 'no matches'));
  };
  const informer = (): object => {
    told.opened += 1;
    return { addIndex: () => {}, addHandler: () => {}, release: () => {} };
  };
  const cluster = { signal: stop.signal, client: { discovery: { typeFor, refresh: () => {} } }, cache: { informer } };
  const informers = new KindInformers({ cluster: cluster as unknown as Cluster, clock });
  return { clock, stop, told, informers };
}

/** Everything that was resolved so far has been heard of. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a kind that its server is late to tell of is opened when it does', async () => {
  const { clock, told, informers } = lateCluster(3);
  informers.hold('policy', [WIDGET]);
  await settled();
  assert.deepEqual(told, { asked: 1, opened: 0 });
  clock.advance(1_000);
  await settled();
  clock.advance(6_000);
  await settled();
  assert.deepEqual(told, { asked: 3, opened: 1 });
  clock.advance(60_000);
  await settled();
  assert.equal(told.asked, 3, 'it is open');
});

test('a kind that is never served is not asked for without end, nor one that nobody needs any more', async () => {
  const { clock, told, informers } = lateCluster(Number.POSITIVE_INFINITY);
  informers.hold('policy', [WIDGET]);
  for (let round = 0; round < 10; round += 1) {
    await settled();
    clock.advance(60_000);
  }
  assert.equal(told.asked, 4);
  informers.recheck();
  await settled();
  informers.hold('policy', []);
  clock.advance(60_000);
  await settled();
  assert.equal(told.asked, 5);
});

test('a kind that could not be listed in time is not waited for again', async () => {
  const stop = new AbortController();
  const waits: ((reason: Error) => void)[] = [];
  const store = {};
  const synced = (): Promise<void> => new Promise((_, reject) => waits.push(reject));
  const informer = (): object => {
    return { hasSynced: false, synced, store, status: {}, addIndex: () => {}, addHandler: () => {}, release: () => {} };
  };
  const discovery = { typeFor: () => Promise.resolve(TYPE), refresh: () => {} };
  const cluster = { signal: stop.signal, client: { discovery }, cache: { informer } } as unknown as Cluster;
  const informers = new KindInformers({ cluster, clock: new ManualClock() });
  assert.equal(await informers.listed(WIDGET, stop.signal), undefined, 'nobody holds it');
  informers.hold('policy', [WIDGET]);
  assert.deepEqual(informers.unlisted(), [WIDGET]);
  const listed = informers.listed(WIDGET, stop.signal);
  await settled();
  assert.equal(waits.length, 1);
  assert.deepEqual(informers.unlisted(), [WIDGET]);
  waits[0]?.(new Error('the server takes its time'));
  assert.equal(await listed, store);
  assert.deepEqual(informers.unlisted(), []);
  assert.equal(await informers.listed(WIDGET, stop.signal), store);
  assert.equal(waits.length, 1);
});
