import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import { createMemoryStorage } from './memory-storage.ts';
import { ObjectStore } from './object-store.ts';
import { createSqliteStorage } from './sqlite-storage.ts';
import { StorageError, type StorageErrorCode } from './storage-error.ts';

function pod(name: string, expected: number, phase = 'Pending') {
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'ns', labels: { phase } },
    status: { phase },
  };
  return { type: 'put' as const, groupResource: 'pods', namespace: 'ns', name, expected, object };
}

describe('object store', () => {
  test('puts the resourceVersion into the bytes, and a read after a write sees it', async () => {
    await using store = new ObjectStore({ storage: createMemoryStorage(), clock: Date.now });
    await store.open();
    const stored = await store.write(pod('a', 0));
    assert.equal(
      stored?.bytes.toString(),
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"1","labels":{"phase":"Pending"}},"status":{"phase":"Pending"}}',
    );
    assert.equal(store.get('pods', 'ns', 'a'), stored);
    assert.equal(stored.bytes.buffer.byteLength, stored.bytes.length, 'it keeps no memory but its own');
    assert.equal(stored.parse().metadata?.resourceVersion, '1');
    assert.equal(`{${stored.bytes.subarray(stored.bareStart).toString()}`.startsWith('{"metadata":{'), true);
    assert.equal(await store.write(pod('a', 0)), undefined);
  });

  test('remembers as much of the past as its storage is told to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'apiserver-store-'));
    try {
      const history = { milliseconds: 60_000, changes: 2, bytes: 1_000_000 };
      const storage = createSqliteStorage({ file: join(folder, 'x.db'), history });
      await using store = new ObjectStore({ storage, clock: Date.now });
      await store.open();
      for (const name of ['a', 'b', 'c']) await store.write(pod(name, 0));
      assert.equal(store.cache('pods').eventsAfter(0), undefined);
      assert.deepEqual(
        store
          .cache('pods')
          .eventsAfter(1)
          ?.map(({ key }) => key),
        ['ns/b', 'ns/c'],
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('after a restart the events of before are as they were, so that watches resume', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'apiserver-store-'));
    const file = join(folder, 'x.db');
    try {
      const before: unknown[] = [];
      {
        await using store = new ObjectStore({ storage: createSqliteStorage({ file }), clock: Date.now });
        await store.open();
        store.subscribe('pods', ({ type, key, revision, object, previous }) =>
          before.push([type, key, revision, object.bytes.toString(), previous?.bytes.toString()]),
        );
        await store.write(pod('a', 0));
        await store.write(pod('b', 0));
        await store.write(pod('a', 1, 'Running'));
        await store.write({ ...pod('b', 2), type: 'delete' });
        await store.write(pod('b', 0, 'Again'));
      }
      await using store = new ObjectStore({ storage: createSqliteStorage({ file }), clock: Date.now });
      await store.open();
      const events = store.cache('pods').eventsAfter(0);
      const after = events?.map(({ type, key, revision, object, previous }) => [
        type,
        key,
        revision,
        object.bytes.toString(),
        previous?.bytes.toString(),
      ]);
      assert.deepEqual(after, before);
      assert.equal(events?.at(-1)?.object.revision, 5);
      assert.equal(events?.[2]?.previous?.revision, 1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('forgets the oldest changes by age, number and bytes, and only those', async () => {
    let now = 0;
    const history = { milliseconds: 1000, changes: 5, bytes: 1_000_000 };
    await using store = new ObjectStore({ storage: createMemoryStorage(), clock: () => now, history });
    await store.open();
    for (let i = 0; i < 8; i++) await store.write(pod('a', i));
    assert.equal(store.cache('pods').eventsAfter(2), undefined);
    assert.equal(store.cache('pods').eventsAfter(3)?.length, 5);
    // Another resource has forgotten nothing.
    assert.equal(store.cache('nodes').eventsAfter(0)?.length, 0);
    now = 5000;
    await store.write(pod('a', 8));
    assert.equal(store.cache('pods').eventsAfter(7), undefined);
    assert.equal(store.cache('pods').eventsAfter(8)?.length, 1);
  });

  test('a write that the disk has no room for is a 503, and reads go on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'apiserver-store-'));
    try {
      const storage = createSqliteStorage({ file: join(folder, 'x.db'), maxBytes: 200_000 });
      await using store = new ObjectStore({ storage, clock: Date.now });
      await store.open();
      await store.write(pod('small', 0));
      const error = await store.write(pod('big', 0, 'x'.repeat(1_000_000))).catch((caught: unknown) => caught);
      assert.ok(isStatusError(error, 'ServiceUnavailable'), String(error));
      assert.match(error.message, /the server cannot write: no space left/);
      assert.equal(error.retryAfterSeconds, 1); // kubectl tries ten times, then says it
      assert.equal(store.get('pods', 'ns', 'small')?.revision, 1);
      assert.equal((await store.write(pod('small', 1)))?.revision, 2);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('what a client is told of a write that failed says whether to wait for it', async () => {
    const cases: [StorageErrorCode, number, number | undefined][] = [
      ['FULL', 503, 1],
      ['UNAVAILABLE', 503, undefined],
      ['FAILED', 500, undefined],
      ['CLOSED', 503, 5],
      ['LOCKED', 503, 5],
    ];
    for (const [code, status, retry] of cases) {
      const storage = createMemoryStorage();
      await using store = new ObjectStore({ storage, clock: Date.now });
      await store.open();
      storage.write = () => Promise.reject(new StorageError(code, 'why'));
      const error = await store.write(pod('a', 0)).catch((caught: unknown) => caught);
      assert.ok(isStatusError(error), code);
      assert.deepEqual([error.code, error.retryAfterSeconds], [status, retry], code);
      assert.equal(error.message, 'the server cannot write: why');
    }
  });

  test('waits for a revision to come, and not for ever', async () => {
    await using store = new ObjectStore({ storage: createMemoryStorage(), clock: Date.now });
    await store.open();
    const reached = store.reached(2, 10_000);
    await store.write(pod('a', 0));
    await store.write(pod('a', 1));
    assert.equal(await reached, true);
    assert.equal(await store.reached(99, 5), false);
  });
});
