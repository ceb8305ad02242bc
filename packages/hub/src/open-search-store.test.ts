import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@asterism/runtime';
import { createSqliteStore, StoreError } from '@asterism/store';
import { openSearchStore } from './open-search-store.ts';

test('without space on the disk search keeps its copies in memory, and says so', async () => {
  const logged: string[] = [];
  const logger = { ...silentLogger, error: (_: object, message: string) => void logged.push(message) };
  const full: typeof createSqliteStore = (options) =>
    options.file === ':memory:'
      ? createSqliteStore(options)
      : Promise.reject(new StoreError('NO_SPACE', `no space left to write ${options.file}`));
  await using store = await openSearchStore('/data/search.db', logger as typeof silentLogger, full);
  assert.ok(store);
  assert.match(logged.join(), /^no space left for \/data\/search\.db: search keeps its copies in memory/);
});

test('any other failure keeps the hub from starting', async () => {
  const damaged = () => Promise.reject(new StoreError('CORRUPT', 'search.db is damaged'));
  await assert.rejects(openSearchStore('search.db', silentLogger, damaged), { code: 'CORRUPT' });
});
