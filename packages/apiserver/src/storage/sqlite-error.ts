import { readFileSync } from 'node:fs';
import { noSpace } from './disk-reserve.ts';
import { StorageError } from './storage-error.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) that we answer in our own words. */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** The index of the log, which is shared memory in a file, cannot grow. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** What an error of `node:sqlite` or the file system means for `file`, as a {@link StorageError}. */
export function storageErrorOf(error: unknown, file: string): StorageError {
  if (error instanceof StorageError) return error;
  const cause = { cause: error };
  const text = error instanceof Error ? error.message : String(error);
  switch (resultCode(error)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new StorageError(
        'LOCKED',
        `${file} is in use by ${holderOf(file)}: stop it, or choose another file`,
        cause,
      );
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new StorageError(
        'CORRUPT',
        `${file} is damaged or no database (${text}): restore it from a backup, or move it away to begin from scratch`,
        cause,
      );
    case SQLITE_FULL:
      return noSpace(file, undefined, cause);
    case SQLITE_IOERR:
      if (extendedCode(error) === SQLITE_IOERR_SHMSIZE) return noSpace(file, undefined, cause);
      return new StorageError(
        'FAILED',
        `${file}: the disk failed (${text}), so it is not known whether this was written: look at the disk and its quota, then read what is there and try again`,
        cause,
      );
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return unavailable(file, text, cause);
    default:
      if (isFileError(error) && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
        return noSpace(file, undefined, cause);
      return isFileError(error)
        ? unavailable(file, text, cause)
        : new StorageError('FAILED', `${file}: ${text}`, cause);
  }
}

/**
 * The same of an error while a database is opened: SQLite's plain errors mean that its schema is not what we wrote, and that is
 * damage.
 */
export function openErrorOf(error: unknown, file: string): StorageError {
  const isPlain =
    resultCode(error) === SQLITE_ERROR || !(error instanceof Error && ('errcode' in error || 'syscall' in error));
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

function unavailable(file: string, why: string, cause: ErrorOptions): StorageError {
  return new StorageError(
    'UNAVAILABLE',
    `${file} cannot be opened for writing (${why}): check that its folder exists and belongs to this user`,
    cause,
  );
}

function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
