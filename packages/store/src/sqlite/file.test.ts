import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SearchStore } from '../search-store.ts';
import { ROWS, SOURCES, writtenRow } from '../testing/written-row.ts';
import { createSqliteStore } from './create-sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const newFile = (name: string): string => join(folder, `${name}.db`);
const PODS = SOURCES.changed;

/** The file of a store with so many rows. */
async function filled(name: string, rows: number): Promise<string> {
  const file = newFile(name);
  await using store = await createSqliteStore({ file });
  await store.applyChanges(PODS, { upserts: Array.from({ length: rows }, (_, n) => writtenRow(n, 1)), watermark: '1' });
  return file;
}

test('what was written is there again after a close', async () => {
  const file = await filled('reopened', 3);
  const before = await createSqliteStore({ file });
  const replacement = await before.beginReplace(SOURCES.listed);
  await replacement.add([writtenRow(7, 2)], { continue: 'page 2', resourceVersion: '2' });
  await before.close();
  await before.close();
  await using store = await createSqliteStore({ file });
  assert.deepEqual(await store.source(PODS), { ...PODS, watermark: '1' });
  assert.equal((await store.query({ labels: [{ key: 'round', operator: '=', values: ['1'] }] })).rows.length, 3);
  const resumed = await store.beginReplace(SOURCES.listed, { resume: true });
  assert.deepEqual(resumed.progress, { continue: 'page 2', resourceVersion: '2' });
  assert.deepEqual(await resumed.finish('2'), { written: 0, unchanged: 0, deleted: 0 });
});

test('nobody else can read the files', async () => {
  const file = newFile('private');
  writeFileSync(file, '');
  chmodSync(file, 0o644);
  await using store = await createSqliteStore({ file });
  await store.applyChanges(PODS, { upserts: [writtenRow(1, 1)] });
  for (const name of [file, `${file}-wal`, `${file}.pid`]) {
    assert.equal(statSync(name).mode & 0o777, 0o600, name);
  }
});

test('a closed store says so', async () => {
  const store = await createSqliteStore({ file: ':memory:' });
  const replacement = await store.beginReplace(PODS);
  await store.close();
  const closed = { code: 'CLOSED' };
  const uses: Promise<unknown>[] = [
    store.source(PODS),
    store.sources(),
    store.query({}),
    store.applyChanges(PODS, {}),
    store.beginReplace(PODS),
    store.dropCluster('c1'),
    replacement.add([], {}),
  ];
  for (const use of uses) await assert.rejects(use, closed);
});

test('a second one that opens the file is told who has it, and gets it when that one closes', async () => {
  const file = newFile('shared');
  const first = await createSqliteStore({ file });
  const message = new RegExp(`^${file} is in use by process ${process.pid}: `);
  await assert.rejects(createSqliteStore({ file, lockTimeoutMs: 0 }), { code: 'LOCKED', message });
  const second = createSqliteStore({ file, lockTimeoutMs: 10_000 });
  await first.applyChanges(PODS, { watermark: '1' });
  await first.close();
  await using store = await second;
  assert.equal((await store.source(PODS)).watermark, '1');
});

test('a process that is killed while it writes leaves rows and watermark that belong together', async () => {
  const file = newFile('killed');
  let round = 0;
  for (const [kill, rounds] of [3, 8, 5].entries()) {
    const child = spawn(
      process.execPath,
      [
        '--conditions=asterism-source',
        '--disable-warning=ExperimentalWarning',
        fileURLToPath(new URL('../testing/writer-process.ts', import.meta.url)),
        file,
        String(round),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exited = once(child, 'exit');
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        if (kill === 0 && Number(line) === 1) {
          await assert.rejects(createSqliteStore({ file, lockTimeoutMs: 0 }), {
            code: 'LOCKED',
            message: new RegExp(`in use by process ${child.pid}`),
          });
        }
        if (Number(line) >= round + rounds) break;
      }
    } finally {
      child.kill('SIGKILL');
    }
    await exited;
    await using store = await createSqliteStore({ file });
    const reached = await checkConsistent(store);
    assert.ok(reached >= round + rounds, `${reached} after ${round} + ${rounds}`);
    round = reached;
  }
});

/** @returns the round that was reached. */
async function checkConsistent(store: SearchStore): Promise<number> {
  const { watermark } = await store.source(PODS);
  const rounds = async (resource: string): Promise<string[]> => {
    const { rows } = await store.query({ resources: [{ group: '', resource }] });
    for (const { resourceVersion, object } of rows) {
      assert.equal(String((JSON.parse(Buffer.from(object).toString()) as { round: number }).round), resourceVersion);
    }
    return rows.map(({ resourceVersion }) => resourceVersion);
  };
  assert.deepEqual(
    await rounds('pods'),
    Array.from({ length: ROWS }, () => watermark),
  );
  const listed = await store.source(SOURCES.listed);
  const versions = await rounds('nodes');
  if (listed.watermark !== undefined && !listed.replacing) {
    assert.deepEqual(
      versions,
      Array.from({ length: 30 }, () => listed.watermark),
    );
  } else if (listed.replacing?.continue !== undefined) {
    const brought = versions.filter((version) => version === listed.replacing?.resourceVersion);
    assert.equal(brought.length, Number(listed.replacing.continue));
  }
  return Number(watermark);
}

test('a file that is no database is said to be none, and left alone', async () => {
  const file = newFile('text');
  writeFileSync(file, 'to whom it may concern: '.repeat(100));
  await assert.rejects(createSqliteStore({ file }), {
    code: 'CORRUPT',
    message: new RegExp(`^${file} is damaged or no database .*: move it away`),
  });
  assert.equal(readFileSync(file, 'utf8').length, 2400);
});

test('a damaged file is said to be damaged when the damage is met', async () => {
  const whole = await filled('whole', 500);
  const file = newFile('damaged');
  copyFileSync(whole, file);
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 20 * 4096);
  writeFileSync(file, bytes);
  await assert.rejects(
    async () => {
      await using store = await createSqliteStore({ file });
      await store.query({});
    },
    { code: 'CORRUPT', message: new RegExp(`^${file} is damaged`) },
  );
});

test("something else's database is refused, and left as it is", async () => {
  const file = newFile('foreign');
  const other = new DatabaseSync(file);
  other.exec('CREATE TABLE mine (a)');
  other.close();
  const before = readFileSync(file);
  await assert.rejects(createSqliteStore({ file }), {
    code: 'FOREIGN',
    message: new RegExp(`^${file} is a database of something else`),
  });
  assert.deepEqual(readFileSync(file), before);
});

test('a file of a newer release is refused', async () => {
  const file = await filled('newer', 1);
  const database = new DatabaseSync(file);
  database.exec('UPDATE schema_version SET version = 99');
  database.close();
  await assert.rejects(createSqliteStore({ file }), {
    code: 'NEWER_SCHEMA',
    message: new RegExp(`^${file} has schema version 99, this release knows \\d+: start the newer release`),
  });
});

test('a place that cannot be written is named', async () => {
  for (const file of [join(folder, 'none', 'x.db'), folder]) {
    await assert.rejects(createSqliteStore({ file }), {
      code: 'NO_ACCESS',
      message: new RegExp(`^${file} cannot be opened`),
    });
  }
});

test('a full disk is said to be full, and what was there stays', async () => {
  const file = await filled('full', 10);
  const database = new DatabaseSync(file);
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {};
  database.close();
  await using store = await createSqliteStore({ file, maxBytes: (Number(pages) + 5) * 4096 });
  const upserts = Array.from({ length: 100 }, (_, n) => writtenRow(n, 2));
  await assert.rejects(store.applyChanges(PODS, { upserts, watermark: '2' }), { code: 'NO_SPACE' });
  assert.deepEqual(await store.source(PODS), { ...PODS, watermark: '1' });
  assert.equal((await store.query({})).rows.length, 10);
});
