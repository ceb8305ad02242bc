import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import type { ObjectRow, Source } from '../row.ts';
import { createSqliteStore } from './create-sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'share-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PODS: Source = { cluster: 'birch', group: '', version: 'v1', resource: 'pods' };
const MAPS: Source = { ...PODS, resource: 'configmaps' };
const OTHER: Source = { ...PODS, cluster: 'oak' };

function row(name: string, bytes = 100, resourceVersion = '1'): ObjectRow {
  const object = JSON.stringify({ a: 'x'.repeat(bytes - 8) });
  return { namespace: 'n', name, kind: 'Pod', uid: name, resourceVersion, createdAt: 0, object };
}

const rows = (count: number, prefix = 'p'): ObjectRow[] =>
  Array.from({ length: count }, (_, n) => row(`${prefix}${n}`));
const over = { code: 'OVER_SHARE', message: /^cluster "birch" has more objects than its share/ };

test('rows and bytes are counted by cluster, through every kind of write', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  await store.applyChanges(PODS, { upserts: rows(3) });
  await store.applyChanges(MAPS, { upserts: rows(2) });
  await store.applyChanges(OTHER, { upserts: rows(1) });
  assert.deepEqual(await store.usage('birch'), { rows: 5, bytes: 500 });
  await store.applyChanges(PODS, { upserts: [row('p0', 300, '2')], deletes: [{ namespace: 'n', name: 'p1' }] });
  assert.deepEqual(await store.usage('birch'), { rows: 4, bytes: 600 });
  const list = await store.beginReplace(PODS);
  await list.add([row('p0', 50, '3')], {});
  await list.finish('3');
  assert.deepEqual(await store.usage('birch'), { rows: 3, bytes: 250 });
  await store.dropSource(MAPS);
  assert.deepEqual(await store.usage('birch'), { rows: 1, bytes: 50 });
  assert.equal(await store.dropCluster('birch'), 1);
  assert.deepEqual(await store.usage('birch'), { rows: 0, bytes: 0 });
  assert.deepEqual(await store.usage('oak'), { rows: 1, bytes: 100 });
});

test('a write beyond the share is refused as a whole, of changes and of lists; other clusters do not notice', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  for (const share of [
    { rows: 3, bytes: 1_000 },
    { rows: 1_000, bytes: 399 },
  ]) {
    await store.dropCluster('birch');
    await store.applyChanges(PODS, { upserts: rows(3), share });
    await assert.rejects(store.applyChanges(MAPS, { upserts: rows(1), watermark: '7', share }), over);
    assert.deepEqual(await store.source(MAPS), MAPS, 'nothing of it is stored');
    const list = await store.beginReplace(MAPS);
    await assert.rejects(list.add(rows(2), {}, share), over);
    assert.deepEqual(await store.usage('birch'), { rows: 3, bytes: 300 });
    await store.applyChanges(OTHER, { upserts: rows(9), share: { rows: 10, bytes: 2_000 } });
  }
});

test('what makes less of it is allowed beyond the share', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  await store.applyChanges(PODS, { upserts: rows(5) });
  const share = { rows: 2, bytes: 100 };
  await store.applyChanges(PODS, { deletes: [{ namespace: 'n', name: 'p0' }], share });
  await store.applyChanges(PODS, { upserts: [row('p1', 20, '2')], share });
  await assert.rejects(store.applyChanges(PODS, { upserts: [row('p1', 21, '3')], share }), over);
});

test('a list that replaces all names fits where the new ones do', async () => {
  await using store = await createSqliteStore({ file: ':memory:' });
  const share = { rows: 5, bytes: 500 };
  await store.applyChanges(PODS, { upserts: rows(5, 'old'), share });
  const list = await store.beginReplace(PODS);
  await list.add(rows(5, 'new'), {}, share);
  await assert.rejects(list.add(rows(1, 'more'), {}, share), over);
  await list.finish('2');
  assert.deepEqual(await store.usage('birch'), { rows: 5, bytes: 500 });
});

test('space that a cluster leaves is given back to the disk, also of a file that an older release made', async () => {
  for (const [name, mode] of [
    ['new', undefined],
    ['old', 'NONE'],
  ] as const) {
    const file = join(folder, `${name}.db`);
    if (mode) {
      await (await createSqliteStore({ file })).close();
      const database = new DatabaseSync(file);
      database.exec(`PRAGMA auto_vacuum = ${mode}; VACUUM`);
      database.close();
    }
    await using store = await createSqliteStore({ file });
    const many = Array.from({ length: 2_000 }, (_, n) => row(`p${n}`, 10_000));
    await store.applyChanges(PODS, { upserts: many });
    await store.dropCluster('birch');
    let steps = 0;
    while (await store.reclaim()) steps++;
    assert.ok(steps > 1, 'in steps');
    assert.ok(statSync(file).size < 1_000_000, `${statSync(file).size} bytes are left`);
  }
});

test('the whole store has a limit, which can be raised', async () => {
  await using store = await createSqliteStore({ file: join(folder, 'limited.db') });
  await store.limit(1_000_000);
  const many = Array.from({ length: 500 }, (_, n) => row(`p${n}`, 10_000));
  await assert.rejects(store.applyChanges(PODS, { upserts: many }), { code: 'NO_SPACE', message: /raise its limit/ });
  await store.limit(100_000_000);
  await store.applyChanges(PODS, { upserts: many });
  assert.equal((await store.usage('birch')).rows, 500);
});

test('a store of the release before is counted when it is opened', async () => {
  const file = join(folder, 'before.db');
  const store = await createSqliteStore({ file });
  await store.applyChanges(PODS, { upserts: rows(4) });
  await store.close();
  const database = new DatabaseSync(file);
  database.exec(`DROP TRIGGER object_added; DROP TRIGGER object_resized; DROP TRIGGER object_removed; DROP TABLE usage;
    ALTER TABLE object DROP COLUMN bytes; UPDATE schema_version SET version = 1`);
  database.close();
  await using migrated = await createSqliteStore({ file });
  assert.deepEqual(await migrated.usage('birch'), { rows: 4, bytes: 400 });
});
