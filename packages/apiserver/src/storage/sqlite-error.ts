import { readFileSync } from 'node:fs';
import { StorageError } from './storage-error.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) that we answer in our own words. */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

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
        `${file} is damaged or no database (${text}): restore it from a backup, or move it away to begin anew`,
        cause,
      );
    case SQLITE_FULL:
      return new StorageError('FULL', `no space left to write ${file}: free some, then try again`, cause);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return new StorageError(
        'UNAVAILABLE',
        `${file} cannot be opened for writing (${text}): check that its folder exists and belongs to this user`,
        cause,
      );
    default:
      return isFileError(error)
        ? new StorageError('UNAVAILABLE', `${file} cannot be opened for writing (${text})`, cause)
        : new StorageError('FAILED', `${file}: ${text}`, cause);
  }
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

function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
