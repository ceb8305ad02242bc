import { readFileSync } from 'node:fs';
import { StoreError } from '../store-error.ts';

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html. */
const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;

/** The store holds copies, so a file that cannot be read is no loss but of time. */
export const BEGIN_ANEW = 'move it away, with its -wal file, to begin anew: it holds copies that can be fetched again';

/** What an error of `node:sqlite` or the file system means for `file`, with what to do about it. */
export function storeErrorOf(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const text = error instanceof Error ? error.message : String(error);
  switch (resultCode(error)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new StoreError('LOCKED', `${file} is in use by ${holderOf(file)}: stop it, or choose another file`, cause);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new StoreError('CORRUPT', `${file} is damaged or no database (${text}): ${BEGIN_ANEW}`, cause);
    case SQLITE_FULL:
      return new StoreError(
        'NO_SPACE',
        `no space left to write ${file}: free some, or raise its limit, then try again`,
        cause,
      );
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return noAccess(file, text, cause);
    case SQLITE_IOERR:
      return new StoreError('FAILED', `${file} cannot be read or written (${text}): check its disk`, cause);
    default:
      return fileError(error, file, text, cause);
  }
}

/** True where there is no space for what was to be written. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL;
}

/** True for what a CHECK or UNIQUE said no to. */
export function isConstraintError(error: unknown): boolean {
  return error instanceof StoreError && resultCode(error.cause) === SQLITE_CONSTRAINT;
}

/** Beside the database, says which process has it. It informs; the lock itself is SQLite's, and ends with the process. */
export function holderFile(file: string): string {
  return `${file}.pid`;
}

function fileError(error: unknown, file: string, text: string, cause: ErrorOptions): StoreError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StoreError(
      'NO_SPACE',
      `no space left to write ${file}: free some, or raise its limit, then try again`,
      cause,
    );
  }
  if (error instanceof Error && 'syscall' in error) return noAccess(file, text, cause);
  return new StoreError('FAILED', `${file}: ${text}`, cause);
}

function noAccess(file: string, text: string, cause: ErrorOptions): StoreError {
  const remedy = 'check that its folder exists and that both belong to this user';
  return new StoreError('NO_ACCESS', `${file} cannot be opened for writing (${text}): ${remedy}`, cause);
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
