import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createSqliteStorage, type SqliteStorageOptions } from './sqlite-storage.ts';
import type { Change, Contents, Storage, StoredRow } from './storage.ts';
import { StorageError } from './storage-error.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-sqlite-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

function newFile(): string {
  return join(folder, `${files++}.db`);
}

function put(name: string, expected: number, text = name): Change {
  const encode = (revision: number): Buffer => Buffer.from(`${text}@${revision}`);
  return { type: 'put', groupResource: 'pods', namespace: 'ns', name, expected, encode };
}

function remove(name: string, expected: number): Change {
  return { ...put(name, expected), type: 'delete' };
}

const ignore = (): void => {};

async function opened(
  options: SqliteStorageOptions,
): Promise<Storage & { contents: Contents & { objects: StoredRow[] } }> {
  const storage = createSqliteStorage(options);
  const objects: StoredRow[] = [];
  const contents = await storage.open(ignore, (object) => objects.push(object));
  return Object.assign(storage, { contents: { ...contents, objects } });
}

async function rejectsWith(code: string, promise: Promise<unknown>): Promise<StorageError> {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StorageError, String(error));
  assert.equal(error.code, code);
  return error;
}

describe('sqlite storage', () => {
  test('finds after closing what was there, and goes on counting', async () => {
    const file = newFile();
    {
      await using storage = await opened({ file });
      await storage.write([put('a', 0), put('b', 0)]);
      await storage.write([put('a', 1)]);
      await storage.write([remove('b', 2)]);
    }
    await using again = await opened({ file });
    assert.deepEqual(
      again.contents.objects.map(({ name, revision, value }) => [name, revision, value.toString()]),
      [['a', 3, 'a@3']],
    );
    assert.equal(again.contents.revision, 4);
    assert.deepEqual(
      again.contents.history.map(({ type, name, revision, previous }) => [type, name, revision, previous?.toString()]),
      [
        ['put', 'a', 1, undefined],
        ['put', 'b', 2, undefined],
        ['put', 'a', 3, 'a@1'],
        ['delete', 'b', 4, 'b@2'],
      ],
    );
    assert.equal((await again.write([put('c', 0)])).committed?.[0]?.revision, 5);
  });

  test('what happened before the window is not read again, and told to be forgotten', async () => {
    const file = newFile();
    let now = 1_000_000;
    const options = { file, clock: () => now, history: { milliseconds: 1000, changes: 10, bytes: 1e6 } };
    {
      await using storage = await opened(options);
      await storage.write([put('a', 0)]);
      now += 600;
      await storage.write([put('a', 1)]);
    }
    now += 600;
    await using again = await opened(options);
    assert.equal(again.contents.compacted, 1);
    assert.deepEqual(
      again.contents.history.map(({ revision, previous }) => [revision, previous?.toString()]),
      [[2, 'a@1']],
    );
  });

  test('the revision does not go back when the newest object was deleted and the log was cut', async () => {
    const file = newFile();
    let now = 1_000_000;
    const options = { file, clock: () => now, history: { milliseconds: 1000, changes: 10, bytes: 1e6 } };
    {
      await using storage = await opened(options);
      await storage.write([put('a', 0)]);
      await storage.write([remove('a', 1)]);
      now += 10_000;
      for (let i = 0; i < 600; i++) await storage.write([put('x', i === 0 ? 0 : i + 2)]);
    }
    await using again = await opened(options);
    assert.equal(again.contents.revision, 602);
    assert.ok(again.contents.compacted >= 490, `cut at ${again.contents.compacted}`);
    assert.ok(again.contents.history.every(({ revision }) => revision > again.contents.compacted));
  });

  test('the log is bounded by bytes too, and what waits to be written to the file by a limit of its own', async () => {
    const file = newFile();
    const options = { file, history: { milliseconds: 1e9, changes: 1e9, bytes: 1_000_000 } };
    {
      await using storage = await opened(options);
      for (let i = 0; i < 400; i++) await storage.write([put('x', i, 'x'.repeat(50_000))]);
      const { size } = await stat(`${file}-wal`);
      assert.ok(size < 20_000_000, `the write-ahead log has ${size} bytes after 20 MB of changes`);
    }
    await using again = await opened(options);
    const kept = again.contents.history.reduce((sum, { previous }) => sum + (previous?.length ?? 0), 0);
    assert.ok(kept > 900_000 && kept < 6_000_000, `${kept} bytes of history`);
    assert.equal(again.contents.history[0]?.revision, again.contents.compacted + 1);
    assert.ok((await stat(file)).size < 20_000_000, 'freed pages are used again');
  });

  test('writes of one turn of the event loop are one transaction', async () => {
    const file = newFile();
    const batches: number[] = [];
    await using storage = createSqliteStorage({ file });
    await storage.open((changes) => batches.push(changes.length), ignore);
    await Promise.all(Array.from({ length: 40 }, (_, i) => storage.write([put(`n${i}`, 0)])));
    assert.deepEqual(batches, [40]);
  });

  test('a second process on the file is told who has it', async () => {
    const file = newFile();
    await using _first = await opened({ file });
    const error = await rejectsWith('LOCKED', createSqliteStorage({ file }).open(ignore, ignore));
    assert.match(error.message, new RegExp(`${file} is in use by process ${process.pid}`));
  });

  test('and so is one that comes after another try of the same process', async () => {
    const file = newFile();
    await using _first = await opened({ file });
    await rejectsWith('LOCKED', createSqliteStorage({ file }).open(ignore, ignore));
    assert.match(
      await run(`await storage.open(() => {}, () => {}).catch((error) => process.stdout.write(error.code))`, file),
      /^LOCKED/,
    );
  });

  test('a database of something else is refused, and left as it is', async () => {
    const file = newFile();
    const other = new DatabaseSync(file);
    other.exec('CREATE TABLE song (title TEXT); PRAGMA user_version = 1');
    other.close();
    const before = await readFile(file);
    const error = await rejectsWith('CORRUPT', createSqliteStorage({ file }).open(ignore, ignore));
    assert.match(error.message, /is a database of something else: choose another file/);
    assert.deepEqual(await readFile(file), before);
  });

  test('a file that is no database, or damaged, is named', async () => {
    const file = newFile();
    await writeFile(file, 'this is not a database, and long enough to be looked at as one'.repeat(100));
    assert.match(
      (await rejectsWith('CORRUPT', createSqliteStorage({ file }).open(ignore, ignore))).message,
      new RegExp(file),
    );
    const damaged = newFile();
    {
      await using storage = await opened({ file: damaged });
      for (let i = 0; i < 50; i++) await storage.write([put(`n${i}`, 0, 'x'.repeat(4000))]);
    }
    const bytes = await readFile(damaged);
    bytes.fill(0xaa, 8192, bytes.length - 4096);
    await writeFile(damaged, bytes);
    await rejectsWith('CORRUPT', createSqliteStorage({ file: damaged }).open(ignore, ignore));
  });

  test('a file of a later release is left alone', async () => {
    const file = newFile();
    await (await opened({ file })).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    assert.match(
      (await rejectsWith('NEWER', createSqliteStorage({ file }).open(ignore, ignore))).message,
      /schema version 99/,
    );
  });

  test('a folder that is missing is an error that says so', async () => {
    await rejectsWith(
      'UNAVAILABLE',
      createSqliteStorage({ file: join(folder, 'missing', 'x.db') }).open(ignore, ignore),
    );
  });

  const ROOT = process.getuid?.() === 0 && 'root may write what is read-only';
  test('a file that this user may not write is named, and left as it is', { skip: ROOT }, async () => {
    const file = newFile();
    await (await opened({ file })).close();
    await chmod(file, 0o400);
    const error = await rejectsWith('UNAVAILABLE', createSqliteStorage({ file }).open(ignore, ignore));
    assert.match(error.message, new RegExp(`${file} cannot be opened for writing \\(EACCES.*belongs to this user`));
    await assert.rejects(stat(`${file}-wal`), { code: 'ENOENT' });
  });

  test('with no space left writes are refused, nothing is lost, and with space all is well again', async () => {
    const file = newFile();
    const big = (name: string): Change => put(name, 0, 'x'.repeat(20_000));
    let written = 0;
    {
      await using storage = await opened({ file, maxBytes: 400_000 });
      const fill = async (): Promise<void> => {
        for (;;) {
          await storage.write([big(`n${written}`)]);
          written++;
        }
      };
      await rejectsWith('FULL', fill());
      await rejectsWith('FULL', storage.write([big('again')]));
    }
    assert.ok(written > 5);
    await using storage = await opened({ file });
    assert.equal(storage.contents.objects.length, written);
    assert.equal((await storage.write([big('more')])).committed?.[0]?.revision, written + 1);
  });

  test('the file is for its owner alone', async () => {
    const file = newFile();
    await using storage = await opened({ file });
    await storage.write([put('a', 0)]);
    for (const name of [file, `${file}-wal`, `${file}.pid`]) assert.equal((await stat(name)).mode & 0o777, 0o600, name);
  });

  test('of a long value only the pages are written again in which something changed', async () => {
    const file = newFile();
    await using storage = await opened({ file });
    const text = 'x'.repeat(200 * 4096);
    await storage.write([put('long', 0, text)]);
    await storage.write([put('long', 1, text)]); // A revision of more than 1 takes another byte.
    using database = new DatabaseSync(file);
    const written = (): number => Number(database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.log);
    for (let revision = 2; revision < 8; revision++) {
      written();
      await storage.write([put('long', revision, text)]);
      const pages = written();
      assert.ok(pages > 200 && pages < 220, `${pages} pages`); // The log of changes takes the value before, 200 pages.
    }
  });

  test('a backup made under writes opens and is consistent', async () => {
    const file = newFile();
    const copy = newFile();
    await using storage = await opened({ file });
    for (let i = 0; i < 200; i++) await storage.write([put(`n${i}`, 0, 'x'.repeat(500))]);
    const [, ...writes] = await Promise.all([
      storage.backup(copy),
      ...Array.from({ length: 20 }, (_, i) => storage.write([put(`late${i}`, 0)])),
    ]);
    assert.equal(writes.length, 20);
    await using restored = await opened({ file: copy });
    assert.ok(restored.contents.objects.length >= 200);
    assert.ok(restored.contents.revision >= 200);
  });

  test('what a killed process was told is written is there', { timeout: 30_000 }, async () => {
    const file = newFile();
    let expectedRevision = 0;
    for (let round = 0; round < 3; round++) {
      const acknowledged = await writeUntilKilled(file, 40 + round * 25);
      await using storage = await opened({ file });
      const found = new Map(storage.contents.objects.map(({ name, revision }) => [name, revision]));
      for (const [name, revision] of acknowledged) assert.ok((found.get(name) ?? 0) >= revision, `${name} lost`);
      const newest = Math.max(...acknowledged.values());
      assert.ok(storage.contents.revision >= newest, 'the revision went back');
      assert.ok(newest > expectedRevision, 'a revision was given twice');
      expectedRevision = storage.contents.revision;
    }
  });
});

/** What another process prints that does this with `storage`, of the same file. */
async function run(program: string, file: string): Promise<string> {
  const storage = JSON.stringify(fileURLToPath(new URL('./sqlite-storage.ts', import.meta.url)));
  const code = `import { createSqliteStorage } from ${storage};
    const storage = createSqliteStorage({ file: ${JSON.stringify(file)} });
    ${program}`;
  const flags = [
    '--conditions=asterism-source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    code,
  ];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed: Buffer[] = [];
  for await (const chunk of child.stdout) printed.push(chunk as Buffer);
  return Buffer.concat(printed).toString();
}

/** Lets a child process write, kills it after so many acknowledgements, and returns these. */
async function writeUntilKilled(file: string, acknowledgements: number): Promise<Map<string, number>> {
  const program = `
    import { createSqliteStorage } from ${JSON.stringify(fileURLToPath(new URL('./sqlite-storage.ts', import.meta.url)))};
    const storage = createSqliteStorage({ file: ${JSON.stringify(file)} });
    const objects = [];
    await storage.open(() => {}, (object) => objects.push(object));
    const revisions = new Map(objects.map(({ name, revision }) => [name, revision]));
    const next = async (worker) => {
      for (let i = 0; ; i++) {
        const name = 'w' + worker + '-' + (i % 7);
        const encode = (revision) => Buffer.from('x'.repeat(3000) + revision);
        const { committed } = await storage.write([
          { type: 'put', groupResource: 'pods', namespace: 'ns', name, expected: revisions.get(name) ?? 0, encode },
        ]);
        revisions.set(name, committed[0].revision);
        process.stdout.write(name + ' ' + committed[0].revision + '\\n');
      }
    };
    await Promise.all([0, 1, 2, 3].map(next));`;
  const flags = [
    '--conditions=asterism-source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    program,
  ];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged = new Map<string, number>();
  let text = '';
  let count = 0;
  for await (const chunk of child.stdout) {
    text += String(chunk);
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [name = '', revision] = line.split(' ');
      acknowledged.set(name, Number(revision));
      count++;
    }
    if (count >= acknowledgements) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return acknowledged;
}
