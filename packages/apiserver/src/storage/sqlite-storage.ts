import { wallNow } from '@asterism/client';
import { SqliteConnection } from './sqlite-connection.ts';
import { copyDatabase } from './copy-database.ts';
import { DEFAULT_HISTORY, type HistoryBounds, HistoryWindow } from './history-window.ts';
import { storageErrorOf } from './sqlite-error.ts';
import { lockDatabase, privateFile } from './sqlite-lock.ts';
import type { Change, CommitListener, Committed, Contents, Storage, StoredRow, WriteOutcome } from './storage.ts';
import { StorageError } from './storage-error.ts';
import { WalFlush } from './wal-flush.ts';

export interface SqliteStorageOptions {
  file: string;
  /**
   * When a write is acknowledged. `FULL` (default): when it is on the disk, as with etcd; a power cut loses nothing acknowledged.
   * `NORMAL`: when the kernel has it. A killed process loses nothing then either, but a power cut may take the last seconds, and
   * their revisions are given a second time, which clients that saw them do not notice: for data that may be lost as a whole.
   * The file stays consistent in either case.
   */
  synchronous?: 'NORMAL' | 'FULL';
  /** What is kept of the past, in memory and on the disk, for watches to resume and lists to page. Default: 5 minutes, 10,000 changes, 32 MiB. */
  history?: HistoryBounds;
  /** The file does not grow above this, rounded to whole pages: writes are refused as if the disk were full. */
  maxBytes?: number;
  /** Milliseconds since 1970. */
  clock?: () => number;
  /** Instead of the real one, for tests: see {@link WalFlush}. */
  openFlush?: (file: string) => Pick<WalFlush, 'run'> & Disposable;
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

/** A change in the log. */
interface Logged {
  revision: number;
  time: number;
  bytes: number;
}

/** The log is cut after so many changes or bytes, not after each: a cut costs a statement. */
const CUT_EVERY = { changes: 500, bytes: 4 * 1024 * 1024 };
/** Of the log, in one commit: more would keep everything else waiting. */
const CUT_AT_MOST = 1000;
/** For whoever looks into the file as it is opened, ms. */
const OPEN_TIMEOUT_MS = 2000;

/**
 * Writes are committed in groups: all of one turn of the event loop together, and while a group is on its way to the disk the
 * next one gathers. A group is published, its conflicts with it, when it is there: so nobody is ever told of a change that a
 * power cut takes back.
 */
class SqliteStorage implements Storage {
  readonly history: HistoryBounds;
  readonly #options: SqliteStorageOptions;
  readonly #clock: () => number;
  readonly #log: HistoryWindow<Logged>;
  #connection: SqliteConnection | undefined;
  #resources = new DisposableStack();
  #flush: Pick<WalFlush, 'run'> | undefined;
  #onCommit: CommitListener = () => {};
  #revision = 0;
  #sinceCut = { changes: 0, bytes: 0 };
  /** The log up to here is not needed any more, and not yet cut. */
  #cutBefore = 0;
  #queue: QueuedWrite[] = [];
  #busy = false;
  #whenIdle: (() => void)[] = [];
  #copying: Promise<unknown> = Promise.resolve();
  /** Why nothing is written any more. */
  #ended: StorageError | undefined;

  constructor(options: SqliteStorageOptions) {
    this.#options = options;
    this.#clock = options.clock ?? wallNow;
    this.history = options.history ?? DEFAULT_HISTORY;
    this.#log = new HistoryWindow(this.history);
  }

  async open(onCommit: CommitListener, onObject: (object: StoredRow) => void): Promise<Contents> {
    const { file, synchronous = 'FULL', maxBytes, openFlush = (of) => new WalFlush(of) } = this.#options;
    if (this.#ended || this.#connection) {
      throw new StorageError('CLOSED', `the storage of ${file} has been opened before: create a new one`);
    }
    const { DatabaseSync } = await import('node:sqlite');
    using resources = new DisposableStack();
    try {
      resources.use(lockDatabase(DatabaseSync, file));
      const database = new DatabaseSync(privateFile(file), { timeout: OPEN_TIMEOUT_MS });
      const connection = resources.adopt(new SqliteConnection(database, file, maxBytes), (opened) => opened.close());
      if (synchronous === 'FULL') this.#flush = resources.use(openFlush(file));
      connection.readObjects(onObject);
      const contents = connection.readHistory(this.#clock() - this.history.milliseconds);
      for (const { revision, time, previous } of contents.history) {
        this.#log.push({ revision, time, bytes: previous?.length ?? 0 });
      }
      this.#onCommit = onCommit;
      this.#revision = contents.revision;
      this.#connection = connection;
      this.#resources = resources.move();
      return contents;
    } catch (error) {
      throw storageErrorOf(error, file);
    }
  }

  write(changes: readonly Change[]): Promise<WriteOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<WriteOutcome>();
    if (this.#ended || !this.#connection) {
      reject(this.#ended ?? this.#closedError());
      return promise;
    }
    this.#queue.push({ changes, resolve, reject });
    if (!this.#busy) {
      this.#busy = true;
      setImmediate(this.#turn);
    }
    return promise;
  }

  backup(file: string): Promise<void> {
    if (this.#ended || !this.#connection) return Promise.reject(this.#ended ?? this.#closedError());
    const done = copyDatabase(this.#options.file, file);
    // None is cut off by closing.
    this.#copying = Promise.allSettled([this.#copying, done]);
    return done;
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended ??= this.#closedError();
    if (this.#busy) this.#whenIdle.push(resolve);
    else resolve();
    await Promise.all([promise, this.#copying]);
    this.#connection = undefined;
    this.#resources.dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Commits what is queued as one group, brings it to the disk and publishes it; then the next group. */
  readonly #turn = (): void => {
    const group = this.#queue;
    this.#queue = [];
    const committed = this.#commit(group);
    if (!committed) return this.#next();
    if (committed.length === 0 || !this.#flush) {
      this.#publish(group, committed);
      return this.#next();
    }
    this.#flush.run((error) => {
      if (error) this.#fail(group, error);
      else this.#publish(group, committed);
      this.#next();
    });
  };

  #next(): void {
    if (this.#queue.length > 0) {
      setImmediate(this.#turn);
      return;
    }
    this.#busy = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** What is now in SQLite's log; undefined where that failed, which all of the group has been told. */
  #commit(group: readonly QueuedWrite[]): readonly Committed[] | undefined {
    const before = this.#revision;
    const connection = this.#connection;
    if (!connection) return undefined;
    const time = this.#clock();
    try {
      connection.begin();
      for (const write of group) this.#attempt(write, connection, time);
      if (this.#revision === before) connection.rollback();
      else connection.finish(this.#revision, this.#nextCut(time));
    } catch (error) {
      this.#revision = before;
      connection.rollback();
      const reason = storageErrorOf(error, this.#options.file);
      for (const write of group) write.reject(reason);
      return undefined;
    }
    const committed = group.flatMap((write) => write.outcome?.committed ?? []);
    this.#logged(committed, time);
    return committed;
  }

  #publish(group: readonly QueuedWrite[], committed: readonly Committed[]): void {
    if (committed.length > 0) this.#onCommit(committed);
    for (const write of group) if (write.outcome) write.resolve(write.outcome);
  }

  /**
   * After a sync that failed nobody knows what is on the disk, and a second one would not tell (the kernel forgets). What readers
   * see is what was there before; only a new start finds out more.
   */
  #fail(group: readonly QueuedWrite[], cause: Error): void {
    const { file } = this.#options;
    this.#ended = new StorageError(
      'FAILED',
      `${file}: the disk failed (${cause.message}), so it is not known whether this was written: look at the disk, then restart the server`,
      { cause },
    );
    for (const write of [...group, ...this.#queue.splice(0)]) write.reject(this.#ended);
  }

  /** One write within the transaction: all of its changes, or none, and then the revision is as before. */
  #attempt(write: QueuedWrite, connection: SqliteConnection, time: number): void {
    const before = this.#revision;
    const committed: Committed[] = [];
    const several = write.changes.length > 1;
    if (several) connection.savepoint();
    const undo = (): void => {
      if (several) connection.rollbackToSavepoint();
      this.#revision = before;
    };
    for (const change of write.changes) {
      const revision = this.#revision + 1;
      let value: Buffer;
      try {
        value = change.encode(revision);
      } catch (error) {
        undo();
        write.reject(error);
        return;
      }
      if (!connection.apply(change, { revision, value, time })) {
        const actual = connection.revisionOf(change);
        undo();
        write.outcome = { conflict: change, actual };
        return;
      }
      this.#revision = revision;
      const { groupResource, namespace, name, type } = change;
      committed.push({ groupResource, namespace, name, type, revision, value, change });
    }
    if (several) connection.releaseSavepoint();
    write.outcome = { committed };
  }

  #logged(committed: readonly Committed[], time: number): void {
    if (committed.length === 0) return;
    for (const { revision, value, change } of committed) {
      // What the object was before is about as long as what it is now; a new one was nothing.
      const bytes = change?.expected === 0 ? 0 : value.length;
      this.#log.push({ revision, time, bytes });
      this.#sinceCut.bytes += bytes;
    }
    this.#sinceCut.changes += committed.length;
    this.#cutBefore = 0;
  }

  /** The revision up to which the log is cut with this commit, or undefined for not now. */
  #nextCut(now: number): number | undefined {
    const { changes, bytes } = this.#sinceCut;
    if (changes >= CUT_EVERY.changes || bytes >= CUT_EVERY.bytes) {
      const expired = this.#log.expire(now, CUT_AT_MOST);
      this.#cutBefore = expired.at(-1)?.revision ?? this.#cutBefore;
      if (expired.length < CUT_AT_MOST) this.#sinceCut = { changes: 0, bytes: 0 };
    }
    return this.#cutBefore || undefined;
  }

  #closedError(): StorageError {
    return new StorageError('CLOSED', `${this.#options.file} is closed`);
  }
}
