import { readFileSync } from 'node:fs';
import { sqliteFault } from '@asterism/machinery';
import { noSpace } from './disk-reserve.ts';
import { StorageError } from './storage-error.ts';

/** What an error of `node:sqlite` or the file system means for `file`, as a {@link StorageError}. */
export function storageErrorOf(error: unknown, file: string): StorageError {
  if (error instanceof StorageError) return error;
  const cause = { cause: error };
  const text = error instanceof Error ? error.message : String(error);
  switch (sqliteFault(error)) {
    case 'locked':
      return new StorageError(
        'LOCKED',
        `${file} is in use by ${holderOf(file)}: stop it, or choose another file`,
        cause,
      );
    case 'corrupt':
      return new StorageError(
        'CORRUPT',
        `${file} is damaged or no database (${text}): restore it from a backup, or move it away to begin from scratch`,
        cause,
      );
    case 'full':
      return noSpace(file, undefined, cause);
    case 'disk':
      return new StorageError(
        'FAILED',
        `${file}: the disk failed (${text}), so it is not known whether this was written: look at the disk and its quota, then read what is there and try again`,
        cause,
      );
    case 'access':
      return new StorageError(
        'UNAVAILABLE',
        `${file} cannot be opened for writing (${text}): check that its folder exists and belongs to this user`,
        cause,
      );
    default:
      return new StorageError('FAILED', `${file}: ${text}`, cause);
  }
}

/**
 * The same of an error while a database is opened: SQLite's plain errors mean that its schema is not what we wrote, and that is
 * damage.
 */
export function openErrorOf(error: unknown, file: string): StorageError {
  const fault = sqliteFault(error);
  const isPlain = fault === undefined || fault === 'statement';
  if (!isPlain || error instanceof StorageError) return storageErrorOf(error, file);
  const text = error instanceof Error ? error.message : String(error);
  return new StorageError('CORRUPT', `${file} is damaged (${text}): restore it from a backup`, { cause: error });
}

/** The file beside the database that says who has it. It informs; the lock itself is SQLite's, and ends with the process. */
export function holderFile(file: string): string {
  return `${file}.pid`;
}

function holderOf(file: string): string {
  try {
    return `process ${readFileSync(holderFile(file), 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
