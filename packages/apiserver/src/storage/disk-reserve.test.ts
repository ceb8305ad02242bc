import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { until } from '@asterism/client/testing';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import { DiskReserve } from './disk-reserve.ts';
import { ObjectStore } from './object-store.ts';
import { createSqliteStorage, type SqliteStorageOptions } from './sqlite-storage.ts';
import type { StorageError } from './storage-error.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-reserve-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);
const MIB = 1024 * 1024;

/** A file system whose free space the test sets. */
function disk(free: number, total = 64 * MIB) {
  const space = { total, free };
  return { space, look: () => space };
}

describe('a reserve', () => {
  test('is a 64th of the file system, within one mebibyte and eight', async () => {
    for (const [total, bytes] of [
      [MIB, MIB],
      [128 * MIB, 2 * MIB],
      [1024 * 1024 * MIB, 8 * MIB],
    ] as const) {
      const file = newFile();
      using reserve = new DiskReserve({ file, onChange: () => {}, ...disk(1024 * MIB, total) });
      const { size, blocks, mode } = await stat(`${file}.reserve`);
      assert.deepEqual([reserve.kept, size, mode & 0o777], [bytes, bytes, 0o600]);
      assert.ok(blocks * 512 >= bytes, 'it takes no space');
    }
  });

  test('is given up piece by piece, and whole again when there is space', async () => {
    const file = newFile();
    const { space, look } = disk(100 * MIB);
    const told: (string | undefined)[] = [];
    using reserve = new DiskReserve({ file, look, onChange: (full) => told.push(full?.code) });
    space.free = 0.9 * MIB;
    reserve.look();
    assert.match(reserve.full?.message ?? '', /no space left to write .* \(921 KiB left on its disk\): free some/);
    assert.equal(reserve.release(), true);
    assert.equal(reserve.release(), true);
    assert.equal(reserve.release(), false);
    assert.equal((await stat(`${file}.reserve`)).size, 0);
    space.free = 2.1 * MIB; // Enough for the reserve, and not for more.
    reserve.look();
    assert.deepEqual([reserve.kept, reserve.full?.code], [0, 'FULL']);
    space.free = 3 * MIB;
    reserve.look();
    assert.deepEqual([reserve.kept, reserve.full], [MIB, undefined]);
    assert.deepEqual(told, ['FULL', undefined], 'it is told once each');
  });

  test('a write that found no space counts for a while, whatever the file system says', () => {
    using reserve = new DiskReserve({ file: newFile(), onChange: () => {}, ...disk(100 * MIB) });
    reserve.refused({ code: 'FULL', message: 'quota' } as StorageError);
    const seen = [0, 1, 2].map(() => {
      reserve.look();
      return reserve.full?.message;
    });
    assert.deepEqual(seen, ['quota', 'quota', undefined]);
  });
});

function change(object: KubeObject, expected: number, groupResource = 'configmaps') {
  const { namespace = '', name = '' } = object.metadata ?? {};
  return { type: 'put' as const, groupResource, namespace, name, expected, object };
}

const map = (name: string, text = name): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  data: { text },
});
const lease = (text: string): KubeObject => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'l', namespace: 'default' },
  spec: { holderIdentity: text },
});
const LEASES = 'leases.coordination.k8s.io';

async function opened(options: Omit<SqliteStorageOptions, 'file'>, file = newFile()): Promise<ObjectStore> {
  const store = new ObjectStore({ storage: createSqliteStorage({ file, ...options }), clock: Date.now });
  await store.open();
  return store;
}

async function refused(write: Promise<unknown>): Promise<void> {
  await assert.rejects(write, (error) => {
    assert.ok(isStatusError(error), String(error));
    assert.deepEqual([error.code, error.retryAfterSeconds], [503, 1]);
    assert.match(error.message, /no space left to write .*: free some, then try again/);
    return true;
  });
}

describe('a disk that is full', () => {
  test('takes deletions, what prepares them, and Leases; and everything again when there is space', async () => {
    const { space, look } = disk(100 * MIB);
    const file = newFile();
    await using store = await opened({ reserve: { look, lookEveryMs: 10 } }, file);
    const told: unknown[] = [];
    const changed = Promise.withResolvers<void>();
    store.state.onFull((full) => {
      told.push(full?.code);
      changed.resolve();
    });
    const revision = async (...given: Parameters<typeof change>): Promise<number> =>
      (await store.write(change(...given)))?.revision ?? 0;
    const [a, b, l] = [await revision(map('a'), 0), await revision(map('b'), 0), await revision(lease('x'), 0, LEASES)];
    space.free = 0;
    await changed.promise;

    await refused(store.write(change(map('c'), 0)));
    await refused(store.write(change(map('a', 'more'), a)));
    assert.ok(await store.write(change({ ...lease('y'), metadata: { name: 'new', namespace: 'default' } }, 0, LEASES)));
    await refused(store.write(change(lease('x'.repeat(5000)), l, LEASES)));
    await store.settled();
    const renewed = await revision(lease('y'), l, LEASES);
    const metadata = { ...map('b').metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.y/z'] };
    const marked = await revision({ ...map('b'), metadata }, b);
    await refused(store.write(change({ ...map('b', 'x'.repeat(5000)), metadata }, marked)));
    assert.ok(await store.write({ ...change(map('b'), marked), type: 'delete' }));
    assert.ok(await store.write({ ...change(map('a'), a), type: 'delete' }));

    space.free = 100 * MIB;
    await until(() => !store.state.full);
    assert.ok(await store.write(change(map('c'), 0)));
    assert.equal(await revision(lease('z'), renewed, LEASES), store.revision);
    assert.deepEqual(told, ['FULL', undefined]);
  });

  test('a database that is opened on it is read, and takes deletions', async () => {
    const file = newFile();
    const before = await opened({}, file);
    await before.write(change(map('a'), 0));
    await before.close();
    await using store = await opened({ reserve: { look: () => ({ total: 64 * MIB, free: 0 }) } }, file);
    assert.equal(store.state.full?.code, 'FULL');
    assert.equal(store.get('configmaps', 'default', 'a')?.revision, 1);
    await refused(store.write(change(map('b'), 0)));
    assert.ok(await store.write({ ...change(map('a'), 1), type: 'delete' }));
  });
});

test('a database at its limit takes deletions, and then what fits again', async () => {
  await using store = await opened({ maxBytes: 600_000 });
  const written: number[] = [];
  const fill = async (): Promise<void> => {
    for (;;) written.push((await store.write(change(map(`n${written.length}`, 'x'.repeat(20_000)), 0)))?.revision ?? 0);
  };
  await refused(fill());
  assert.ok(written.length > 5);
  for (let at = 0; at < written.length; at++) {
    assert.ok(await store.write({ ...change(map(`n${at}`), written[at] ?? 0), type: 'delete' }), `n${at}`);
  }
});
