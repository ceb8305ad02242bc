import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { LineQueue } from './line-queue.ts';
import { RotatingFile } from './rotating-file.ts';

const START = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const KILOBYTE_LINES = 1_023;

class Folder implements AsyncDisposable {
  readonly path: string;

  static async make(): Promise<Folder> {
    return new Folder(await mkdtemp(join(tmpdir(), 'asterism-audit-')));
  }

  private constructor(path: string) {
    this.path = path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

const ignore = (): void => {};

/** A line of 1 KiB with its end, that says which it is. */
function line(name: string, number: number): string {
  return `${name}-${number}-`.padEnd(KILOBYTE_LINES, 'x');
}

describe('a log file', () => {
  test('is made with its folder, for its owner alone, and goes on where it was', async () => {
    await using folder = await Folder.make();
    const path = join(folder.path, 'logs', 'audit.log');
    for (const text of ['a', 'b']) {
      const file = await RotatingFile.open({ path }, () => START);
      await file.write([text], ignore);
      await file.close();
    }
    assert.equal(await readFile(path, 'utf8'), 'a\nb\n');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('that cannot be opened is told with its path', async () => {
    await using folder = await Folder.make();
    const path = join(folder.path, 'audit.log');
    await mkdir(path);
    await assert.rejects(RotatingFile.open({ path }, Date.now), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'AUDIT_LOG');
      assert.ok(error.message.startsWith('the audit log cannot be opened: EISDIR'), error.message);
      assert.ok(error.message.includes(path));
      return true;
    });
  });

  test('is renamed when it is full, with the time in its name; two in a folder keep apart, and every line is whole', async () => {
    await using folder = await Folder.make();
    const queues = await Promise.all(
      ['audit', 'audit-b'].map(async (name) => {
        const path = join(folder.path, `${name}.log`);
        return { name, queue: new LineQueue(await RotatingFile.open({ path, maxSize: 1 }, () => START), assert.fail) };
      }),
    );
    for (let number = 0; number < 3_000; number++) {
      for (const { name, queue } of queues) queue.add(line(name, number));
      if (number % 500 === 0) await new Promise(setImmediate);
    }
    await Promise.all(queues.map(({ queue }) => queue.close()));
    for (const { name } of queues) {
      const files = (await readdir(folder.path)).filter((file) => new RegExp(`^${name}(-2026.*)?\\.log$`).test(file));
      assert.deepEqual(files.sort(), [
        `${name}-2026-01-02T03-04-05.678.log`,
        `${name}-2026-01-02T03-04-05.679.log`,
        `${name}.log`,
      ]);
      const texts = await Promise.all(files.map((file) => readFile(join(folder.path, file), 'utf8')));
      assert.deepEqual(
        texts.map(({ length }) => length / 1024),
        [1024, 1024, 952],
      );
      const lines = texts.join('').trimEnd().split('\n');
      assert.deepEqual(
        lines,
        Array.from({ length: 3_000 }, (_, number) => line(name, number)),
      );
    }
  });

  test('a line that is longer than a file may be has one of its own', async () => {
    await using folder = await Folder.make();
    const path = join(folder.path, 'audit.log');
    const file = await RotatingFile.open({ path, maxSize: 1 }, () => START);
    const long = 'x'.repeat(2 * 1024 * 1024);
    await file.write(['a', long, 'b'], ignore);
    await file.close();
    const sizes = await Promise.all(
      (await readdir(folder.path)).sort().map(async (name) => (await stat(join(folder.path, name))).size),
    );
    assert.deepEqual(sizes, [2, long.length + 1, 2]);
  });

  const keeping: [name: string, options: { maxAge?: number; maxBackups?: number }, left: string[]][] = [
    [
      'no more than are asked for',
      { maxBackups: 2 },
      ['audit-2026-01-01T00-00-00.000.log', 'audit-2026-01-02T03-04-05.678.log'],
    ],
    ['none that is too old', { maxAge: 1 }, ['audit-2026-01-02T03-04-05.678.log']],
    [
      'all where nothing is said',
      {},
      ['audit-2025-12-01T00-00-00.000.log', 'audit-2026-01-01T00-00-00.000.log', 'audit-2026-01-02T03-04-05.678.log'],
    ],
  ];
  for (const [name, options, left] of keeping) {
    test(`of its renamed files it keeps ${name}, and touches no other file`, async () => {
      await using folder = await Folder.make();
      const others = ['audit-notes.log', 'audit-b-2020-01-01T00-00-00.000.log', 'audit-2020-01-01T00-00-00.000.txt'];
      const old = ['audit-2025-12-01T00-00-00.000.log', 'audit-2026-01-01T00-00-00.000.log'];
      for (const file of [...others, ...old]) await writeFile(join(folder.path, file), '');
      const path = join(folder.path, 'audit.log');
      const file = await RotatingFile.open({ path, maxSize: 1, ...options }, () => START);
      await file.write([line('a', 1), 'x'.repeat(1024 * 1024)], ignore);
      await file.close();
      assert.deepEqual((await readdir(folder.path)).sort(), [...others, ...left, 'audit.log'].sort());
    });
  }

  test('whose folder is gone for a while is made again; what came meanwhile is lost and told', async () => {
    await using folder = await Folder.make();
    const logs = join(folder.path, 'logs');
    const path = join(logs, 'audit.log');
    const file = await RotatingFile.open({ path, maxSize: 1 }, () => START);
    await file.write(['x'.repeat(1024 * 1024 - 1)], ignore);
    await rm(logs, { recursive: true });
    await writeFile(logs, 'a file in its place');
    let written = 0;
    await assert.rejects(file.write(['lost'], (count) => (written += count)));
    assert.equal(written, 0);
    await rm(logs);
    await file.write(['kept'], ignore);
    await file.close();
    assert.equal(await readFile(path, 'utf8'), 'kept\n');
  });
});

describe('a queue of lines', () => {
  test('brings what came together in one batch, and what comes meanwhile in the next', async () => {
    const batches: string[][] = [];
    const first = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const queue = new LineQueue(
      {
        write: async (lines, onWritten) => {
          batches.push([...lines]);
          begun.resolve();
          if (batches.length === 1) await first.promise;
          onWritten(lines.length);
        },
        close: () => Promise.resolve(),
      },
      assert.fail,
    );
    queue.add('a');
    queue.add('b');
    await begun.promise;
    queue.add('c');
    queue.add('d');
    first.resolve();
    await queue.close();
    assert.deepEqual(batches, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('holds no more than ten thousand for a target that does not take them', async () => {
    let lost = 0;
    const begun = Promise.withResolvers<void>();
    const queue = new LineQueue(
      {
        write: () => {
          begun.resolve();
          return new Promise(() => {});
        },
        close: () => Promise.resolve(),
      },
      (count) => (lost += count),
    );
    queue.add('first');
    await begun.promise;
    for (let number = 0; number < 10_005; number++) queue.add('x');
    assert.equal(lost, 5);
    await queue.close();
    assert.equal(lost, 10_006);
  });

  test('of a batch that fails in the middle, what was written is not lost', async () => {
    let lost = 0;
    const queue = new LineQueue(
      {
        write: (_, onWritten) => {
          onWritten(1);
          return Promise.reject(new Error('no space'));
        },
        close: () => Promise.resolve(),
      },
      (count) => (lost += count),
    );
    queue.add('a');
    queue.add('b');
    queue.add('c');
    await queue.close();
    assert.equal(lost, 2);
  });
});
