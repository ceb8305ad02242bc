import { fileSize } from './file-size.ts';
import { StorageError } from './storage-error.ts';

/**
 * Throws `UNAVAILABLE` if there is a log without its database. SQLite would delete it, and with it the last writes of the database
 * that was moved away.
 */
export function requireNoOrphanLog(file: string): void {
  if (fileSize(file) > 0) return;
  const log = [`${file}-wal`, `${file}-journal`].find((path) => fileSize(path) > 0);
  if (log === undefined) return;
  throw new StorageError(
    'UNAVAILABLE',
    `${file} is not there, but its log ${log} is, with the last writes of that database: put the database back next to it, or move ` +
      'the log to where the database is now',
  );
}
