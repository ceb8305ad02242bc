import { accessSync, closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { holderFile, storageErrorOf } from './sqlite-error.ts';

/**
 * Takes the database `file` for this process, or throws `LOCKED`. The lock is SQLite's, on an empty file beside the database, so
 * it ends with the process however that ends; the database itself stays open to those who copy it.
 */
export function lockDatabase(Database: typeof DatabaseSync, file: string): Disposable {
  let lock: DatabaseSync | undefined;
  try {
    lock = new Database(privateFile(`${file}.lock`), { timeout: 0 });
    // No journal file: a full disk has no room for one.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    throw storageErrorOf(error, file);
  }
  const held = lock;
  sayWhoHolds(file);
  return {
    [Symbol.dispose]: () => {
      rmSync(holderFile(file), { force: true });
      held.close();
    },
  };
}

/**
 * Sees to it that the file may be written, and exists with mode 0600 before SQLite writes into it; what SQLite puts beside it gets the same mode.
 * A file that is there is not even opened: to close it again would end the locks that this process has on it.
 */
export function privateFile(file: string): string {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw storageErrorOf(error, file);
  }
  try {
    accessSync(file, constants.R_OK | constants.W_OK); // SQLite would open one that is read-only, as far as it can.
  } catch (error) {
    throw storageErrorOf(error, file);
  }
  return file;
}

function sayWhoHolds(file: string): void {
  try {
    writeFileSync(holderFile(file), `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // It only informs: on a full disk the database may still be readable.
  }
}
