import { closeSync, openSync } from 'node:fs';
import { SqliteConnection } from './sqlite-connection.ts';
import { storageErrorOf } from './sqlite-error.ts';
import type { Change, CommitListener, Committed, Contents, Storage, WriteOutcome } from './storage.ts';
import { StorageError } from './storage-error.ts';

export interface SqliteStorageOptions {
  file: string;
  /**
   * When SQLite calls `fsync`. `NORMAL` (default): at checkpoints, not at each commit. A killed process loses nothing, for
   * what it committed is in the kernel; a power cut may lose the last commits, never the consistency of the file. That is
   * what a control plane wants whose clients reconcile: three times the writes for a window of seconds in a rare event.
   * `FULL`: at each commit, as etcd does; nothing acknowledged is lost in a power cut either.
   */
  synchronous?: 'NORMAL' | 'FULL';
  /** How long, and how many, changes are kept for watches to resume after a restart. Default 5 minutes, 10,000 changes. */
  history?: { milliseconds: number; changes: number };
  /** The file does not grow above this, rounded to whole pages: writes are refused as if the disk were full. */
  maxBytes?: number;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/** Objects in one file of SQLite (WAL, mode 0600). One process at a time has it. Creates the file where it is missing. */
export function createSqliteStorage(options: SqliteStorageOptions): Storage {
  return new SqliteStorage(options);
}

interface QueuedWrite {
  changes: readonly Change[];
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: unknown) => void;
  outcome?: WriteOutcome;
}

const DEFAULT_HISTORY = { milliseconds: 5 * 60_000, changes: 10_000 };
/** Of a copy, in one step. */
const ALL_PAGES = 2 ** 31 - 1;
/** The log is cut after so many changes, not after each: a cut costs a query. */
const CUT_EVERY = 500;

class SqliteStorage implements Storage {
  readonly #options: SqliteStorageOptions;
  readonly #history: { milliseconds: number; changes: number };
  readonly #clock: () => number;
  #connection: SqliteConnection | undefined;
  #onCommit: CommitListener = () => {};
  #revision = 0;
  #sinceCut = 0;
  #queue: QueuedWrite[] = [];
  #scheduled = false;
  /** How many copies are being made, and when they are. */
  #backups = 0;
  #copying: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: SqliteStorageOptions) {
    this.#options = options;
    this.#history = options.history ?? DEFAULT_HISTORY;
    this.#clock = options.clock ?? Date.now;
  }

  async open(onCommit: CommitListener): Promise<Contents> {
    if (this.#closed || this.#connection) {
      throw new StorageError('CLOSED', `the storage of ${this.#options.file} has been opened before: create a new one`);
    }
    const { DatabaseSync } = await import('node:sqlite');
    try {
      const { file, synchronous = 'NORMAL', maxBytes } = this.#options;
      const database = new DatabaseSync(privateFile(file), { timeout: 0 });
      this.#connection = new SqliteConnection(database, { file, synchronous, maxBytes });
      const contents = this.#connection.readAll();
      this.#onCommit = onCommit;
      this.#revision = contents.revision;
      return contents;
    } catch (error) {
      this.#connection?.close();
      this.#connection = undefined;
      throw storageErrorOf(error, this.#options.file);
    }
  }

  write(changes: readonly Change[]): Promise<WriteOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<WriteOutcome>();
    if (this.#closed || !this.#connection) {
      reject(new StorageError('CLOSED', `${this.#options.file} is closed`));
      return promise;
    }
    this.#queue.push({ changes, resolve, reject });
    this.#schedule();
    return promise;
  }

  backup(file: string): Promise<void> {
    const done = this.#backup(file);
    // None is cut off by closing.
    this.#copying = Promise.allSettled([this.#copying, done]);
    return done;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#copying;
    this.#flush();
    this.#closed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** SQLite refuses to copy while its connection writes. So writes wait: for one copy of the file, in another thread. */
  async #backup(file: string): Promise<void> {
    if (!this.#connection) throw new StorageError('CLOSED', `${this.#options.file} is closed`);
    const { backup } = await import('node:sqlite');
    this.#backups++;
    try {
      await backup(this.#connection.database, privateFile(file), { rate: ALL_PAGES });
    } catch (error) {
      throw storageErrorOf(error, file);
    } finally {
      this.#backups--;
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#backups > 0 || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  /** Commits everything that was queued in this turn of the event loop in one transaction. */
  #flush(): void {
    this.#scheduled = false;
    // A copy that began meanwhile schedules what waits when it is done.
    if (this.#backups > 0) return;
    const batch = this.#queue;
    this.#queue = [];
    if (batch.length === 0 || !this.#connection) return;
    const before = this.#revision;
    try {
      this.#connection.begin();
      for (const write of batch) this.#attempt(write, this.#connection);
      this.#connection.finish(this.#revision, this.#cutBefore(this.#connection));
    } catch (error) {
      this.#revision = before;
      this.#connection.rollback();
      const reason = storageErrorOf(error, this.#options.file);
      for (const write of batch) write.reject(reason);
      return;
    }
    const committed = batch.flatMap((write) => write.outcome?.committed ?? []);
    if (committed.length > 0) this.#onCommit(committed);
    for (const write of batch) if (write.outcome) write.resolve(write.outcome);
  }

  /** One write within the transaction: all of its changes, or none, and then the revision is as before. */
  #attempt(write: QueuedWrite, connection: SqliteConnection): void {
    const before = this.#revision;
    const committed: Committed[] = [];
    connection.savepoint();
    for (const change of write.changes) {
      const revision = this.#revision + 1;
      let value: Buffer;
      try {
        value = change.encode(revision);
      } catch (error) {
        connection.rollbackToSavepoint();
        this.#revision = before;
        write.reject(error);
        return;
      }
      if (!connection.apply(change, { revision, value, time: this.#clock() })) {
        const actual = connection.revisionOf(change);
        connection.rollbackToSavepoint();
        this.#revision = before;
        write.outcome = { conflict: change, actual };
        return;
      }
      this.#revision = revision;
      committed.push({ change, revision, value });
    }
    connection.releaseSavepoint();
    write.outcome = { committed };
    this.#sinceCut += committed.length;
  }

  /** The revision up to which the log is cut now, or undefined for not now. */
  #cutBefore(connection: SqliteConnection): number | undefined {
    if (this.#sinceCut < CUT_EVERY) return undefined;
    this.#sinceCut = 0;
    const byTime = connection.newestBefore(this.#clock() - this.#history.milliseconds);
    return Math.max(byTime, this.#revision - this.#history.changes);
  }
}

/** The file exists with mode 0600 before SQLite writes into it; its WAL gets the same mode. */
function privateFile(file: string): string {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw storageErrorOf(error, file);
  }
  return file;
}
