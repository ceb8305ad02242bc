import type { DatabaseSync } from 'node:sqlite';
import { StorageError } from './storage-error.ts';

/** A check reads the whole file. Of one that is larger than this, a start checks the rows alone: 512 MiB take about a second. */
const CHECK_AT_MOST_BYTES = 512 * 1024 * 1024;

/**
 * Checks the pages of a database: whether each is where it belongs, and whether the index has every row. Throws `CORRUPT` with the
 * first fault that SQLite finds.
 */
export function checkDatabase(database: DatabaseSync, file: string, atMostBytes = CHECK_AT_MOST_BYTES): void {
  const count = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  if (count('page_count') * count('page_size') > atMostBytes) return;
  const [found] = database.prepare('PRAGMA integrity_check(1)').all();
  if (found?.integrity_check === 'ok') return;
  throw new StorageError('CORRUPT', `${file} is damaged (${String(found?.integrity_check)}): restore it from a backup`);
}
