/**
 * `locked`: another process has the database. `corrupt`: the file is damaged, or no database. `full`: there is no space left.
 * `disk`: reading or writing failed. `access`: the file is missing or belongs to another user. `constraint`: a CHECK or UNIQUE
 * refused the row. `statement`: SQLite cannot run the statement, for example because a table is missing. `other`: any other code.
 */
export type SqliteFault = 'locked' | 'corrupt' | 'full' | 'disk' | 'access' | 'constraint' | 'statement' | 'other';

/** Primary result codes, https://www.sqlite.org/rescode.html. */
const FAULTS: Readonly<Record<number, SqliteFault>> = {
  1: 'statement', // SQLITE_ERROR
  3: 'access', // SQLITE_PERM
  5: 'locked', // SQLITE_BUSY
  6: 'locked', // SQLITE_LOCKED
  8: 'access', // SQLITE_READONLY
  10: 'disk', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'access', // SQLITE_CANTOPEN
  19: 'constraint', // SQLITE_CONSTRAINT
  26: 'corrupt', // SQLITE_NOTADB
};

/** SQLITE_IOERR_SHMSIZE: the index of the log, which is shared memory in a file, cannot grow. */
const NO_SPACE_FOR_INDEX = 4874;

/** Classifies an error of `node:sqlite`, or of the file system; undefined for every other error. */
export function sqliteFault(error: unknown): SqliteFault | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, code, syscall } = error as { errcode?: unknown; code?: unknown; syscall?: unknown };
  if (typeof errcode === 'number') {
    return errcode === NO_SPACE_FOR_INDEX ? 'full' : (FAULTS[errcode & 0xff] ?? 'other');
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  return syscall === undefined ? undefined : 'access';
}
