import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WalFlush } from './wal-flush.ts';

function run(flush: WalFlush): Promise<Error | null> {
  const { promise, resolve } = Promise.withResolvers<Error | null>();
  flush.run(resolve);
  return promise;
}

/** The flush of files that only look like a database, after `loss`. */
async function afterLoss(t: TestContext, loss: (file: string) => Promise<void>): Promise<(Error | null)[]> {
  const folder = await mkdtemp(join(tmpdir(), 'asterism-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'a.db');
  for (const end of ['', '-wal']) await writeFile(file + end, 'x');
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  using flush = new WalFlush(file);
  await loss(file);
  const outcomes = [await run(flush)];
  now += 1000;
  outcomes.push(await run(flush));
  return outcomes;
}

test('a log or a database that nobody would find again is no place for what is acknowledged', async (t) => {
  const losses: Record<string, (file: string) => Promise<void>> = {
    'a.db-wal': (file) => rm(`${file}-wal`),
    'a.db': (file) => rename(file, `${file}.old`),
  };
  for (const [name, loss] of Object.entries(losses)) {
    await t.test(name, async (t) => {
      const [, error] = await afterLoss(t, loss);
      assert.match(error?.message ?? '', new RegExp(`${name} was removed or replaced while it was in use$`));
    });
  }
  assert.deepEqual(await afterLoss(t, async () => {}), [null, null]);
});
