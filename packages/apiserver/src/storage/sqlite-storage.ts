import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { wallNow } from '@asterism/client';
import { SqliteConnection } from './sqlite-connection.ts';
import { DiskReserve, type DiskReserveOptions } from './disk-reserve.ts';
import { copyDatabase } from './copy-database.ts';
import { DEFAULT_HISTORY, type HistoryBounds, HistoryWindow } from './history-window.ts';
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
  StorageKey,
  StorageSizes,
  StoredRow,
  WriteOutcome,
} from './storage.ts';
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

interface QueuedWrite {
  changes: readonly Change[];
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: unknown) => void;
  outcome?: WriteOutcome | undefined;
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
/** Of the log, with each commit on a full disk: it gives space within the file, but each cut writes the pages that it frees. */
const CUT_WHEN_FULL = 20;
/** What essential changes may add to a file that has reached `maxBytes`. */
const HEADROOM_BYTES = 1024 * 1024;
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
  #reserve: DiskReserve | undefined;
  #onFull: (full: StorageError | undefined) => void = () => {};
  #onCommit: CommitListener = () => {};
  #revision = 0;
  #sinceCut = { changes: 0, bytes: 0 };
  /** The log up to here is not needed any more, and not yet cut. */
  #cutBefore = 0;
  #queue: QueuedWrite[] = [];
  #busy = false;
  #hasHeadroom = false;
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
      requireNoOrphanLog(file);
      this.#reserve = this.#openReserve(resources);
      const connection = await this.#connect(() => {
        checkHeader(file);
        return new SqliteConnection(new DatabaseSync(privateFile(file), { timeout: OPEN_TIMEOUT_MS }), file, maxBytes);
      });
      resources.defer(() => connection.close());
      if (synchronous === 'FULL') this.#flush = resources.use(openFlush(file));
      const contents = this.#read(connection, onObject);
      for (const { revision, time, previous } of contents.history) {
        this.#log.push({ revision, time, bytes: previous?.length ?? 0 });
      }
      // What is left of a log that is not read any more goes with the next commit.
      if (contents.history.length === 0) this.#cutBefore = contents.compacted;
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
    return this.#reserve?.full;
  }

  onFull(listener: (full: StorageError | undefined) => void): void {
    this.#onFull = listener;
  }

  sizes(): StorageSizes {
    const { file } = this.#options;
    const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const { bsize, bavail } = statfsSync(dirname(file));
    return { database: size(file), log: size(`${file}-wal`), free: bsize * bavail };
  }

  #openReserve(resources: DisposableStack): DiskReserve | undefined {
    const { file, reserve = false } = this.#options;
    if (reserve === false) return undefined;
    const options = reserve === true ? {} : reserve;
    return resources.use(new DiskReserve({ file, ...options, onChange: this.#changed }));
  }

  readonly #changed = (full: StorageError | undefined): void => {
    if (full && !this.#busy) this.#saveSpace();
    this.#onFull(full);
  };

  /** On a full disk what SQLite needs to read comes from the reserve. */
  async #connect(open: () => SqliteConnection): Promise<SqliteConnection> {
    for (;;) {
      try {
        return open();
      } catch (error) {
        const reason = storageErrorOf(error, this.#options.file);
        if (reason.code !== 'FULL' || !this.#reserve?.release()) throw error;
      }
    }
  }

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
      if (this.full && committed.length > 0) this.#saveSpace();
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
      else connection.finish(this.#revision, this.#nextCut(time));
    } catch (error) {
      this.#revision = before;
      connection.rollback();
      const reason = storageErrorOf(error, this.#options.file);
      if (reason.code === 'FULL') return this.#commitEssential(group, reason, connection);
      for (const write of group) write.reject(reason);
      return undefined;
    }
    const committed = group.flatMap((write) => write.outcome?.committed ?? []);
    this.#logged(committed, time);
    return committed;
  }

  /** Without those that are refused because the disk is full: space that is free within the file they may use. */
  #admitted(group: QueuedWrite[]): QueuedWrite[] {
    const { full } = this;
    if (!full || !this.#connection || !this.#reserve) return group;
    if (this.#connection.freeBytes >= this.#reserve.bytes) return group;
    return this.#refuseOthers(group, full);
  }

  /** There was no space for all of `group`: what is essential of it gets the reserve, piece by piece. */
  #commitEssential(
    group: readonly QueuedWrite[],
    reason: StorageError,
    connection: SqliteConnection,
  ): readonly Committed[] | undefined {
    this.#reserve?.refused(reason);
    const essential = this.#refuseOthers(group, reason);
    if (essential.length === 0) return undefined;
    if (this.#options.maxBytes !== undefined && !this.#hasHeadroom) {
      this.#hasHeadroom = true;
      connection.limit(HEADROOM_BYTES);
      const committed = this.#commit(essential);
      connection.limit(0);
      this.#hasHeadroom = false;
      return committed;
    }
    if (this.#reserve?.release()) return this.#commit(essential);
    for (const write of essential) write.reject(reason);
    return undefined;
  }

  #refuseOthers(group: readonly QueuedWrite[], reason: StorageError): QueuedWrite[] {
    return group.filter((write) => {
      const isEssential = isEssentialWrite(write.changes, this.#revision + 1);
      if (!isEssential) write.reject(reason);
      return isEssential;
    });
  }

  /**
   * On a full disk the log begins again as soon as it can, or each essential change would take more of the reserve. To move it into the
   * database may take as much as it has itself.
   */
  #saveSpace(): void {
    for (;;) {
      try {
        this.#connection?.checkpoint();
        return;
      } catch {
        const canHelp = (this.#reserve?.kept ?? 0) >= this.sizes().log;
        if (!canHelp || !this.#reserve?.release()) return; // It is tried again with the next write.
      }
    }
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
    if (this.full) {
      const last = this.#log.expire(Number.POSITIVE_INFINITY, CUT_WHEN_FULL).at(-1);
      this.#cutBefore = last?.revision ?? this.#cutBefore;
      return this.#cutBefore || undefined;
    }
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

/** The last of its changes is what the write is for: the others belong to it. */
function isEssentialWrite(changes: readonly Change[], revision: number): boolean {
  const change = changes.at(-1);
  if (change === undefined) return true; // It only waits for the others.
  if (change.essentialBytes === undefined) return false;
  return change.essentialBytes === Number.POSITIVE_INFINITY || change.encode(revision).length <= change.essentialBytes;
}
