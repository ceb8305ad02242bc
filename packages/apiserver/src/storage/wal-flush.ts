import { close, closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Brings what SQLite has committed into its write-ahead log to the disk, while this thread goes on: SQLite's own
 * `synchronous = FULL` would stop every request for as long as the disk takes.
 *
 * With `NORMAL`, SQLite itself syncs the header of a log that it begins anew, the log before its content moves to the database,
 * and the database before the log is overwritten (https://www.sqlite.org/pragma.html#pragma_synchronous). What it leaves out is
 * one sync behind each commit, which is what {@link run} is.
 */
export class WalFlush implements Disposable {
  readonly #log: number;

  /** Of the database `file`, which is open: so its log exists, and stays the same file. */
  constructor(file: string) {
    this.#log = openSync(`${file}-wal`, 'r+');
    syncFolder(dirname(file));
  }

  /** Calls `done` when all that was committed before is on the disk, or with why it is not known to be. */
  run(done: (error: Error | null) => void): void {
    fdatasync(this.#log, done);
  }

  [Symbol.dispose](): void {
    close(this.#log);
  }
}

/** The names of new files are on the disk too. Windows has no such call, and needs none. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
