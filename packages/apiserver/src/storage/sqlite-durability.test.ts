import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createSqliteStorage } from './sqlite-storage.ts';
import type { Change } from './storage.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-durability-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

function put(name: string, expected = 0): Change {
  const encode = (revision: number): Buffer => Buffer.from(`${name}@${revision}`);
  return { type: 'put', groupResource: 'pods', namespace: 'ns', name, expected, encode };
}

/** A disk that syncs when it is told to. */
class HeldDisk implements Disposable {
  readonly syncs: ((error: Error | null) => void)[] = [];
  #wanted = 0;
  #begun = Promise.withResolvers<void>();

  run(done: (error: Error | null) => void): void {
    this.syncs.push(done);
    if (this.syncs.length >= this.#wanted) this.#begun.resolve();
  }

  /** Until so many syncs have been begun. */
  async begun(count: number): Promise<void> {
    this.#wanted = count;
    this.#begun = Promise.withResolvers();
    if (this.syncs.length < count) await this.#begun.promise;
  }

  end(index: number, error: Error | null = null): void {
    this.syncs[index]?.(error);
  }

  [Symbol.dispose](): void {}
}

async function open(disk: HeldDisk, file = join(folder, `${files++}.db`)) {
  const told: string[] = [];
  const storage = createSqliteStorage({ file, openFlush: () => disk });
  const objects: string[] = [];
  await storage.open(
    (changes) => told.push(...changes.map(({ name }) => name)),
    ({ name }) => objects.push(name),
  );
  return { storage, told, file, objects };
}

describe('a write with synchronous FULL', () => {
  test('is neither acknowledged nor told to anybody before it is on the disk', async () => {
    const disk = new HeldDisk();
    const { storage, told, file } = await open(disk);
    let acknowledged = false;
    const write = storage.write([put('a')]).then(() => (acknowledged = true));
    await disk.begun(1);
    assert.deepEqual([acknowledged, told], [false, []]);
    // By then SQLite has it: what is synced is all that a start after a power cut needs.
    for (const end of ['', '-wal']) await copyFile(`${file}${end}`, `${file}.cut${end}`);
    const cut = await open(new HeldDisk(), `${file}.cut`);
    assert.deepEqual(cut.objects, ['a']);
    await cut.storage.close();
    disk.end(0);
    await write;
    assert.deepEqual(told, ['a']);
    await storage.close();
  });

  test('waits with all that come while the disk is at work, and these are one group', async () => {
    const disk = new HeldDisk();
    const { storage, told } = await open(disk);
    const first = storage.write([put('a')]);
    await disk.begun(1);
    const others = ['b', 'c', 'd'].map((name) => storage.write([put(name)]));
    disk.end(0);
    await first;
    await disk.begun(2);
    assert.deepEqual(told, ['a']);
    disk.end(1);
    await Promise.all(others);
    assert.deepEqual([told, disk.syncs.length], [['a', 'b', 'c', 'd'], 2]);
    await storage.close();
  });

  test('a conflict is told after the change that it lost to', async () => {
    const disk = new HeldDisk();
    const { storage, told } = await open(disk);
    const [winner, loser] = [storage.write([put('a')]), storage.write([put('a')])];
    const seen = loser.then((outcome) => [outcome.committed, [...told]]);
    await disk.begun(1);
    disk.end(0);
    await winner;
    assert.deepEqual(await seen, [undefined, ['a']]);
    // A conflict alone has nothing to bring to the disk.
    assert.equal((await storage.write([put('a')])).committed, undefined);
    assert.equal(disk.syncs.length, 1);
    await storage.close();
  });

  test('closing waits for it', async () => {
    const disk = new HeldDisk();
    const { storage, told } = await open(disk);
    const write = storage.write([put('a')]);
    const closed = storage.close().then(() => [...told]);
    await disk.begun(1);
    disk.end(0);
    assert.deepEqual(await closed, ['a']);
    await write;
  });

  test('a disk that fails ends all writing: nobody knows what it has', async () => {
    const disk = new HeldDisk();
    const { storage, told, file } = await open(disk);
    const failed = assert.rejects(storage.write([put('a')]), { code: 'FAILED', message: /EIO.*restart the server/ });
    await disk.begun(1);
    const waiting = assert.rejects(storage.write([put('b')]), { code: 'FAILED' });
    disk.end(0, new Error('EIO'));
    await Promise.all([failed, waiting]);
    await assert.rejects(storage.write([put('c')]), { code: 'FAILED' });
    assert.deepEqual(told, []);
    await storage.close();
    const again = await open(new HeldDisk(), file);
    assert.ok(again.objects.length <= 1);
    await again.storage.close();
  });
});
