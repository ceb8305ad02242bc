import { readFileSync } from 'node:fs';
import { sqliteFault } from '@asterism/machinery';
import { StoreError } from '../store-error.ts';

/** The store holds copies, so a file that cannot be read is no loss but of time. */
export const BEGIN_ANEW = 'move it away, with its -wal file, to begin anew: it holds copies that can be fetched again';

/** What an error of `node:sqlite` or the file system means for `file`, with what to do about it. */
export function storeErrorOf(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const text = error instanceof Error ? error.message : String(error);
  switch (sqliteFault(error)) {
    case 'locked':
      return new StoreError('LOCKED', `${file} is in use by ${holderOf(file)}: stop it, or choose another file`, cause);
    case 'corrupt':
      return new StoreError('CORRUPT', `${file} is damaged or no database (${text}): ${BEGIN_ANEW}`, cause);
    case 'full':
      return new StoreError(
        'NO_SPACE',
        `no space left to write ${file}: free some, or raise its limit, then try again`,
        cause,
      );
    case 'access':
      return new StoreError(
        'NO_ACCESS',
        `${file} cannot be opened for writing (${text}): check that its folder exists and that both belong to this user`,
        cause,
      );
    case 'disk':
      return new StoreError('FAILED', `${file} cannot be read or written (${text}): check its disk`, cause);
    default:
      return new StoreError('FAILED', `${file}: ${text}`, cause);
  }
}

/** Whether a CHECK or UNIQUE refused the write. */
export function isConstraintError(error: unknown): boolean {
  return error instanceof StoreError && sqliteFault(error.cause) === 'constraint';
}

/** Beside the database, says which process has it. It informs; the lock itself is SQLite's, and ends with the process. */
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
