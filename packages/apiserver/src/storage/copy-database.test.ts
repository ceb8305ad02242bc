import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { copyDatabase, inspectDatabase, renewRevisions } from './copy-database.ts';
import { ObjectStore } from './object-store.ts';
import { createSqliteStorage } from './sqlite-storage.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-copy-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

function map(name: string, expected: number, value = name) {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'default' }, data: { value } };
  return { type: 'put' as const, groupResource: 'configmaps', namespace: 'default', name, expected, object };
}

async function opened(file: string, clock = Date.now): Promise<ObjectStore> {
  const store = new ObjectStore({ storage: createSqliteStorage({ file, clock }), clock });
  await store.open();
  return store;
}

describe('a copy of a database in use', () => {
  test('is of one moment, and holds up no write', async () => {
    const [file, copy] = [newFile(), newFile()];
    await using store = await opened(file);
    for (let i = 0; i < 300; i++) await store.write(map(`n${i}`, 0, 'x'.repeat(20_000)));
    let copied = false;
    const copying = copyDatabase(file, copy).then(() => (copied = true));
    let during = 0;
    while (!copied) {
      await store.write(map(`late${during}`, 0));
      if (!copied) during++;
    }
    await copying;
    const { objects, revision } = await inspectDatabase(copy);
    assert.ok(during > 0, 'no write was acknowledged meanwhile');
    assert.ok(objects >= 300 && objects === revision, `${objects} objects at ${revision}`);
    assert.equal((await stat(copy)).mode & 0o777, 0o600);
  });

  test('by an old release of ours is refused with who has it', async () => {
    const file = newFile();
    await (await opened(file)).close();
    using old = new DatabaseSync(file);
    old.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    await assert.rejects(copyDatabase(file, newFile()), { code: 'LOCKED', message: /is in use by/ });
  });

  test('writes over nothing, and leaves nothing where it fails', async () => {
    const [there, missing, text, target] = [newFile(), newFile(), newFile(), newFile()];
    await writeFile(there, 'mine');
    await writeFile(text, 'no database at all, but long enough to be taken for one'.repeat(50));
    await (await opened(newFile())).close();
    await assert.rejects(copyDatabase(text, there), { code: 'UNAVAILABLE', message: /exists already/ });
    assert.equal(await readFile(there, 'utf8'), 'mine');
    await assert.rejects(copyDatabase(missing, target), { code: 'UNAVAILABLE', message: /does not exist/ });
    await assert.rejects(copyDatabase(text, target), { code: 'CORRUPT', message: new RegExp(text) });
    const names = await readdir(folder);
    for (const file of [missing, target]) assert.ok(!names.some((name) => join(folder, name).startsWith(file)), file);
  });

  test('that was damaged is found out', async () => {
    const [file, copy] = [newFile(), newFile()];
    const store = await opened(file);
    for (let i = 0; i < 100; i++) await store.write(map(`n${i}`, 0, 'x'.repeat(3000)));
    await store.close();
    await copyDatabase(file, copy);
    const bytes = await readFile(copy);
    bytes.fill(0xaa, bytes.length - 8192);
    await writeFile(copy, bytes);
    await assert.rejects(inspectDatabase(copy), { code: 'CORRUPT', message: /is damaged/ });
  });
});

test('put back, a database gives revisions above all that were given, and watches of before begin anew', async () => {
  const [file, copy] = [newFile(), newFile()];
  await using store = await opened(file);
  await store.write(map('a', 0));
  await store.write(map('a', 1, 'second'));
  await copyDatabase(file, copy);
  await store.write(map('b', 0));
  const { objects, revision } = await renewRevisions(copy, 5_000);
  assert.deepEqual([objects, revision], [1, 1_000_000_002]);
  await using restored = await opened(copy);
  assert.equal(restored.get('configmaps', 'default', 'a')?.revision, 2);
  for (const seen of [0, 2, 3, 1_000_000_001]) assert.equal(restored.cache('configmaps').eventsAfter(seen), undefined);
  const next = await restored.write(map('b', 0));
  assert.equal(next?.revision, 1_000_000_003);
  assert.equal(restored.cache('configmaps').eventsAfter(revision)?.length, 1);
});

test('a database of the first release starts: objects, revisions and the log for watches are there', async () => {
  const file = newFile();
  const fixture = await readFile(new URL('./fixtures/schema-1.db.gz', import.meta.url));
  await writeFile(file, gunzipSync(fixture), { mode: 0o600 });
  const version = (): unknown[] => {
    using database = new DatabaseSync(file, { readOnly: true });
    return ['user_version', 'application_id'].map((name) => database.prepare(`PRAGMA ${name}`).get()?.[name]);
  };
  assert.deepEqual(version(), [1, 0]);
  for (let start = 0; start < 2; start++) {
    await using store = await opened(file, () => 0); // as if no time had passed
    assert.equal(store.revision, 5 + start);
    const changes = store
      .cache('configmaps')
      .eventsAfter(2)
      ?.map(({ type, key, revision }) => [type, key, revision]);
    assert.deepEqual(changes?.slice(0, 3), [
      ['put', 'default/gone', 3],
      ['put', 'default/kept', 4],
      ['delete', 'default/gone', 5],
    ]);
    const kept = store.get('configmaps', 'default', 'kept');
    assert.deepEqual(kept?.parse()['data'], { value: start === 0 ? 'second' : 'third' });
    assert.equal(store.get('configmaps', 'default', 'gone'), undefined);
    assert.equal((await store.write(map('kept', kept?.revision ?? 0, 'third')))?.revision, 6 + start);
  }
  assert.deepEqual(version(), [4, 0x61737472]);
});
