import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import { checkDatabase } from './check-database.ts';
import { copyDatabase, inspectDatabase, renewRevisions } from './copy-database.ts';
import { ObjectStore } from './object-store.ts';
import { createSqliteStorage } from './sqlite-storage.ts';
import { StorageError } from './storage-error.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-damage-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

const key = (name: string) => ({ groupResource: 'secrets', namespace: 'default', name });

function secret(name: string, expected: number, value = name) {
  const object = { kind: 'Secret', apiVersion: 'v1', metadata: { name, namespace: 'default' }, data: { value } };
  return { type: 'put' as const, ...key(name), expected, object };
}

async function opened(file: string): Promise<ObjectStore> {
  const store = new ObjectStore({ storage: createSqliteStorage({ file }), clock: Date.now });
  await store.open();
  return store;
}

/** A database with these objects, each written twice, and one that was deleted. */
async function filled(names: readonly string[]): Promise<string> {
  const file = newFile();
  await using store = await opened(file);
  for (const name of [...names, 'gone']) {
    const first = await store.write(secret(name, 0, 'first'));
    await store.write(secret(name, first?.revision ?? 0, `of ${name}`));
  }
  const gone = store.get('secrets', 'default', 'gone');
  await store.write({ ...secret('gone', gone?.revision ?? 0), type: 'delete' });
  return file;
}

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

const readError = (says: RegExp) => (error: unknown) => {
  assert.ok(isStatusError(error), String(error));
  assert.deepEqual([error.code, error.reason], [500, 'StorageReadError']);
  assert.match(error.message, says);
  return true;
};

describe('a row that is not as it was written', () => {
  const cases: [string, string][] = [
    ['its value has another byte', `value = CAST(replace(value, 'of b', 'of c') AS BLOB)`],
    ['its value is that of another', `value = (SELECT value FROM object WHERE name = 'a')`],
    ['its value is cut', `value = substr(value, 1, length(value) - 1)`],
    ['its revision is another', `revision = revision + 1`],
    ['its checksum is another', `checksum = checksum + 1`],
    ['it has no checksum', `checksum = -1`],
  ];
  for (const [name, set] of cases) {
    test(`${name}: it is named, and never served`, async () => {
      const file = await filled(['a', 'b', 'c']);
      change(file, `UPDATE object SET ${set} WHERE name = 'b'`);
      await using store = await opened(file);
      assert.deepEqual(store.state.damaged, [key('b')]);
      assert.throws(() => store.get('secrets', 'default', 'b'), readError(/secrets "b" in namespace "default"/));
      assert.throws(() => store.cache('secrets').entries('default/', ''), readError(/"b"/));
      assert.equal([...store.cache('secrets').entries('other/', '')].length, 0);
      assert.equal(store.get('secrets', 'default', 'a')?.parse()['data'] !== undefined, true);
      assert.equal(store.cache('secrets').size, 3);
      // Who goes on from the past lists again, and is told.
      assert.equal(store.cache('secrets').eventsAfter(store.revision - 1), undefined);
    });
  }

  test('is deleted on demand, and then it can be created again', async () => {
    const file = await filled(['a', 'b']);
    change(file, `UPDATE object SET value = x'00' WHERE name = 'b'`);
    {
      await using store = await opened(file);
      const before = store.revision;
      assert.equal(await store.write(secret('b', 0)), undefined, 'its name is taken');
      assert.equal(await store.discard(key('b')), true);
      assert.equal(await store.discard(key('b')), false);
      assert.deepEqual(store.state.damaged, []);
      assert.equal(store.get('secrets', 'default', 'b'), undefined);
      assert.equal((await store.write(secret('b', 0)))?.revision, before + 2);
    }
    await using again = await opened(file);
    assert.deepEqual([again.state.damaged, again.state.notes], [[], []]);
    assert.deepEqual(again.get('secrets', 'default', 'b')?.parse()['data'], { value: 'b' });
  });

  test('is found in a database whose checksums took fewer bytes, and nothing else is', async () => {
    const file = await filled(['a', 'b']);
    const shorter = (column: string): string => `${column} = ${column} - 4294967296`;
    change(file, `UPDATE object SET ${shorter('checksum')}; UPDATE state SET ${shorter('checksum')}`);
    change(file, `UPDATE event SET ${shorter('checksum')}, ${shorter('previousChecksum')}; PRAGMA user_version = 3`);
    change(file, `UPDATE object SET value = x'00' WHERE name = 'b'`);
    await using store = await opened(file);
    assert.deepEqual([store.state.damaged, store.state.notes], [[key('b')], []]);
    assert.deepEqual(store.get('secrets', 'default', 'a')?.parse()['data'], { value: 'of a' });
  });

  test('is found in a copy, which is not put back', async () => {
    const [file, copy] = [await filled(['a', 'b']), newFile()];
    change(file, `UPDATE object SET value = x'00' WHERE name = 'b'`);
    await copyDatabase(file, copy);
    assert.deepEqual((await inspectDatabase(copy)).damaged, [key('b')]);
    await assert.rejects(renewRevisions(copy, Date.now()), {
      code: 'CORRUPT',
      message: /secrets "b" in namespace "default"/,
    });
  });
});

describe('what is stored beside the objects', () => {
  const cases: [string, string, RegExp | undefined][] = [
    ['a change of the log', `UPDATE event SET time = time + 1 WHERE revision = 3`, /log of past changes is damaged/],
    ['a change is missing', `DELETE FROM event WHERE revision = 3`, /log of past changes is damaged/],
    ['the value before a change', `UPDATE event SET previous = x'00' WHERE revision = 2`, /log of past changes/],
    ['the counter of revisions', `UPDATE state SET value = 1 WHERE key = 'revision'`, /counter of revisions/],
    ['the counter is far ahead', `UPDATE state SET value = 1 << 60 WHERE key = 'revision'`, /counter of revisions/],
    ['the counter is missing', `DELETE FROM state`, /counter of revisions is damaged/],
  ];
  for (const [name, sql, note] of cases) {
    test(`${name}: watches begin again, and no revision is given twice`, async () => {
      const file = await filled(['a']);
      change(file, sql);
      {
        await using store = await opened(file);
        assert.match(store.state.notes.join(), note ?? /^$/);
        assert.deepEqual(store.state.damaged, []);
        assert.equal(store.cache('secrets').eventsAfter(4), undefined);
        const written = await store.write(secret('new', 0));
        assert.ok((written?.revision ?? 0) >= 6, String(written?.revision));
      }
      await using again = await opened(file);
      assert.deepEqual(again.state.notes, [], 'it is said once');
    });
  }
});

describe('rows of releases without checksums', () => {
  const downgrade = `
    ALTER TABLE object DROP COLUMN checksum; ALTER TABLE event DROP COLUMN checksum; ALTER TABLE state DROP COLUMN checksum;
    ALTER TABLE event DROP COLUMN expected; ALTER TABLE event DROP COLUMN previousChecksum; PRAGMA user_version = 2;`;

  test('get one, and so does what the log has', async () => {
    const file = await filled(['a', 'b']);
    change(file, downgrade);
    await using store = await opened(file);
    assert.deepEqual([store.state.damaged, store.state.notes], [[], []]);
    assert.equal(store.cache('secrets').eventsAfter(0)?.length, 7);
  });

  test('are damaged if they are no JSON, or of another revision', async () => {
    const file = await filled(['a', 'b', 'c']);
    change(file, `${downgrade} UPDATE object SET value = x'7b' WHERE name = 'b'`);
    change(file, `UPDATE object SET revision = revision + 1 WHERE name = 'c'`);
    await using store = await opened(file);
    assert.deepEqual(store.state.damaged, [key('b'), key('c')]);
  });

  test('can be put back', async () => {
    const file = await filled(['a', 'b']);
    change(file, downgrade);
    assert.equal((await renewRevisions(file, 5)).objects, 2);
    await using store = await opened(file);
    assert.deepEqual([store.state.damaged, store.state.notes], [[], []]);
    assert.ok(store.revision > 1_000_000_000);
  });
});

test('a file too large to be checked in a start is opened by its rows alone', async () => {
  using database = new DatabaseSync(await filled(['a']));
  const reads: string[] = [];
  const prepare = (sql: string) => {
    reads.push(sql);
    return database.prepare(sql);
  };
  checkDatabase({ prepare } as DatabaseSync, 'x', 4096);
  assert.ok(!reads.some((sql) => sql.includes('integrity_check')), reads.join());
});

/** So many of them in a soak; each takes some 15 ms. */
const FLIPS = Number(process.env['ASTERISM_FLIPS'] ?? 150);

test(`after bits were flipped nothing else than what was written is served (${FLIPS} times)`, async () => {
  const names = Array.from({ length: 120 }, (_, i) => `object-${i}`);
  const file = await filled(names);
  const truth = new Map<string, KubeObject>();
  {
    await using store = await opened(file);
    for (const name of names) truth.set(name, store.get('secrets', 'default', name)?.parse() ?? {});
  }
  const pristine = await readFile(file);
  const seed = Number(process.env['ASTERISM_SEED'] ?? 24);
  const random = mulberry(seed);
  const outcomes = { fine: 0, named: 0, refused: 0 };
  for (let round = 0; round < FLIPS; round++) {
    const bytes = Buffer.from(pristine);
    const bits = [1, 1, 2, 3, 40][round % 5] ?? 1;
    for (let i = 0; i < bits; i++) {
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    }
    const damaged = newFile();
    await writeFile(damaged, bytes, { mode: 0o600 });
    outcomes[await outcomeOf(damaged, truth, `seed ${seed}, round ${round}`)]++;
    for (const end of ['', '-wal', '-shm', '.lock', '.pid']) await rm(damaged + end, { force: true });
  }
  assert.ok(outcomes.named > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
});

async function outcomeOf(
  file: string,
  truth: ReadonlyMap<string, KubeObject>,
  where: string,
): Promise<'fine' | 'named' | 'refused'> {
  let store: ObjectStore;
  try {
    store = await opened(file);
  } catch (error) {
    assert.ok(error instanceof StorageError && ['CORRUPT', 'NEWER'].includes(error.code), `${where}: ${String(error)}`);
    assert.ok(error.message.includes(file) && /restore/.test(error.message), `${where}: ${error.message}`);
    return 'refused';
  }
  await using _closed = store;
  const damaged = store.state.damaged.map(({ name }) => name);
  for (const [name, object] of truth) {
    if (damaged.includes(name)) assert.throws(() => store.get('secrets', 'default', name), readError(/is damaged/));
    else assert.deepEqual(store.get('secrets', 'default', name)?.parse(), object, `${where}: ${name}`);
  }
  assert.equal(store.cache('secrets').size, truth.size, where);
  return damaged.length > 0 ? 'named' : 'fine';
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
