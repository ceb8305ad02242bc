import { close, closeSync, fdatasync, fsyncSync, openSync, statSync } from 'node:fs';
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
  readonly #files: readonly { path: string; inode: bigint | undefined }[];
  /** When it was last looked whether these are still there. */
  #looked = performance.now();

  /** Of the database `file`, which is open: so its log exists, and stays the same file. */
  constructor(file: string) {
    this.#log = openSync(`${file}-wal`, 'r+');
    this.#files = [file, `${file}-wal`].map((path) => ({ path, inode: inodeOf(path) }));
    syncFolder(dirname(file));
  }

  /**
   * Calls `done` when all that was committed before is on the disk, or with why it is not known to be: also where the disk has
   * it in files that nobody will find again.
   */
  run(done: (error: Error | null) => void): void {
    const lost = this.#lost();
    if (lost === undefined) fdatasync(this.#log, done);
    else setImmediate(done, new Error(`${lost} was removed or replaced while it was in use`));
  }

  /** One of the files that does not stand under its name any more. Looks once a second: it costs a few microseconds. */
  #lost(): string | undefined {
    const now = performance.now();
    if (now - this.#looked < LOOK_EVERY_MS) return undefined;
    this.#looked = now;
    return this.#files.find(({ path, inode }) => inodeOf(path) !== inode)?.path;
  }

  [Symbol.dispose](): void {
    close(this.#log);
  }
}

const LOOK_EVERY_MS = 1000;

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
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
