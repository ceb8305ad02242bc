import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { wallNow } from '@asterism/client';
import { SqliteConnection } from './sqlite-connection.ts';
import { ChangeLog } from './change-log.ts';
import type { DiskReserveOptions } from './disk-reserve.ts';
import { type CommitTarget, EssentialSpace } from './essential-space.ts';
import { fileSize } from './file-size.ts';
import { copyDatabase } from './copy-database.ts';
import { DEFAULT_HISTORY, type HistoryBounds } from './history-window.ts';
import type { QueuedWrite } from './queued-write.ts';
import { openErrorOf, storageErrorOf } from './sqlite-error.ts';
import { requireNoOrphanLog } from './orphan-log.ts';
import { checkHeader } from './check-header.ts';
import { lockDatabase, privateFile } from './sqlite-lock.ts';
import type {
  Change,
  CommitListener,
  Committed,
  Contents,
  Storage,
  StorageSizes,
  StoredRow,
  WriteOutcome,
} from './storage.ts';
import { StorageError } from './storage-error.ts';
import { WalFlush } from './wal-flush.ts';
import type { StorageKey } from '../contract/object-change.ts';

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
  /**
   * Keeps space for deletions and Leases, and refuses other writes before the disk is full: a file of up to 8 MiB next to the
   * database. Default false.
   */
  reserve?: boolean | Pick<DiskReserveOptions, 'look' | 'lookEveryMs'>;
  /** Instead of the real one, for tests: see {@link WalFlush}. */
  openFlush?: (file: string) => Pick<WalFlush, 'run'> & Disposable;
}

/** Objects in one file of SQLite (WAL, mode 0600). One process at a time has it. Creates the file where it is missing. */
export function createSqliteStorage(options: SqliteStorageOptions): Storage {
  return new SqliteStorage(options);
}

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
  readonly #log: ChangeLog;
  readonly #space: EssentialSpace;
  #connection: SqliteConnection | undefined;
  #resources = new DisposableStack();
  #flush: Pick<WalFlush, 'run'> | undefined;
  #onFull: (full: StorageError | undefined) => void = () => {};
  #onCommit: CommitListener = () => {};
  #revision = 0;
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
    this.#log = new ChangeLog(this.history);
    this.#space = new EssentialSpace(options, this.#changed);
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
      requireNoOrphanLog(file);
      this.#space.open(resources);
      const connection = this.#space.connect(() => {
        checkHeader(file);
        return new SqliteConnection(new DatabaseSync(privateFile(file), { timeout: OPEN_TIMEOUT_MS }), file, maxBytes);
      });
      resources.defer(() => connection.close());
      if (synchronous === 'FULL') this.#flush = resources.use(openFlush(file));
      const contents = this.#read(connection, onObject);
      this.#log.restore(contents);
      this.#onCommit = onCommit;
      this.#revision = contents.revision;
      this.#connection = connection;
      this.#resources = resources.move();
      return contents;
    } catch (error) {
      throw openErrorOf(error, file);
    }
  }

  get full(): StorageError | undefined {
    return this.#space.full;
  }

  onFull(listener: (full: StorageError | undefined) => void): void {
    this.#onFull = listener;
  }

  sizes(): StorageSizes {
    const { file } = this.#options;
    const { bsize, bavail } = statfsSync(dirname(file));
    return { database: fileSize(file), log: fileSize(`${file}-wal`), free: bsize * bavail };
  }

  readonly #changed = (full: StorageError | undefined): void => {
    if (full && !this.#busy) this.#space.save(this.#connection);
    this.#onFull(full);
  };

  #read(connection: SqliteConnection, onObject: (object: StoredRow) => void): Contents {
    const damaged: StorageKey[] = [];
    let newest = 0;
    connection.readObjects(
      (object) => {
        newest = Math.max(newest, object.revision);
        onObject(object);
      },
      (row) => damaged.push(row),
    );
    const now = this.#clock();
    const contents = connection.readHistory(now - this.history.milliseconds, { newest, now });
    if (damaged.length === 0) return contents;
    // A client that continued from the past would not notice that it has an object which nobody can read any more.
    return { ...contents, damaged, compacted: contents.revision, history: [] };
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
    const group = this.#admitted(this.#queue.splice(0));
    const committed = this.#commit(group);
    if (!committed) return this.#next();
    const publish = (): void => {
      this.#publish(group, committed);
      if (this.full && committed.length > 0) this.#space.save(this.#connection);
    };
    if (committed.length === 0 || !this.#flush) {
      publish();
      return this.#next();
    }
    this.#flush.run((error) => {
      if (error) this.#fail(group, error);
      else publish();
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
      else connection.finish(this.#revision, this.#log.nextCut(time, this.full !== undefined));
    } catch (error) {
      this.#revision = before;
      connection.rollback();
      const reason = storageErrorOf(error, this.#options.file);
      if (reason.code === 'FULL') {
        return this.#space.commit(group, reason, this.#target(connection), (essential) => this.#commit(essential));
      }
      for (const write of group) write.reject(reason);
      return undefined;
    }
    const committed = group.flatMap((write) => write.outcome?.committed ?? []);
    this.#log.add(committed, time);
    return committed;
  }

  #admitted(group: QueuedWrite[]): QueuedWrite[] {
    if (!this.full || !this.#connection) return group;
    return this.#space.admit(group, this.#target(this.#connection));
  }

  #target(connection: SqliteConnection): CommitTarget {
    return { connection, nextRevision: this.#revision + 1 };
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
    write.outcome = undefined;
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

  #closedError(): StorageError {
    return new StorageError('CLOSED', `${this.#options.file} is closed`);
  }
}
