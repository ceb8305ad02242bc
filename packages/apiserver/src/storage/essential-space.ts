import { DiskReserve, type DiskReserveOptions } from './disk-reserve.ts';
import { fileSize } from './file-size.ts';
import type { QueuedWrite } from './queued-write.ts';
import { storageErrorOf } from './sqlite-error.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { Change, Committed } from './storage.ts';
import type { StorageError } from './storage-error.ts';

export interface EssentialSpaceOptions {
  /** The database. */
  file: string;
  maxBytes?: number | undefined;
  reserve?: boolean | Pick<DiskReserveOptions, 'look' | 'lookEveryMs'> | undefined;
}

/** The database as a group of writes finds it. */
export interface CommitTarget {
  connection: SqliteConnection;
  /** The next change gets this revision. */
  nextRevision: number;
}

/** Essential changes may add this much to a file that has reached `maxBytes`. */
const HEADROOM_BYTES = 1024 * 1024;

/**
 * Commits essential writes on a full disk, and in a file that has reached its limit: they get the {@link DiskReserve}, or the
 * headroom above the limit. Other writes are rejected.
 */
export class EssentialSpace {
  readonly #options: EssentialSpaceOptions;
  readonly #onChange: (full: StorageError | undefined) => void;
  #reserve: DiskReserve | undefined;
  #hasHeadroom = false;

  constructor(options: EssentialSpaceOptions, onChange: (full: StorageError | undefined) => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  /** Creates the reserve, if there should be one. */
  open(resources: DisposableStack): void {
    const { file, reserve = false } = this.#options;
    if (reserve === false) return;
    const options = reserve === true ? {} : reserve;
    this.#reserve = resources.use(new DiskReserve({ file, ...options, onChange: this.#onChange }));
  }

  /** Why ordinary writes are rejected; undefined while there is space. */
  get full(): StorageError | undefined {
    return this.#reserve?.full;
  }

  /** On a full disk SQLite gets the space that it needs to read from the reserve. */
  connect(open: () => SqliteConnection): SqliteConnection {
    for (;;) {
      try {
        return open();
      } catch (error) {
        const reason = storageErrorOf(error, this.#options.file);
        if (reason.code !== 'FULL' || !this.#reserve?.release()) throw error;
      }
    }
  }

  /** Rejects ordinary writes while the disk is full. They may use the space that is free within the file. */
  admit(group: QueuedWrite[], { connection, nextRevision }: CommitTarget): QueuedWrite[] {
    const { full } = this;
    if (!full || !this.#reserve || connection.freeBytes >= this.#reserve.bytes) return group;
    return rejectOthers(group, full, nextRevision);
  }

  /** There was no space for all of `group`: its essential writes get the reserve, piece by piece. */
  commit(
    group: readonly QueuedWrite[],
    reason: StorageError,
    { connection, nextRevision }: CommitTarget,
    commit: (essential: readonly QueuedWrite[]) => readonly Committed[] | undefined,
  ): readonly Committed[] | undefined {
    this.#reserve?.refused(reason);
    const essential = rejectOthers(group, reason, nextRevision);
    if (essential.length === 0) return undefined;
    if (this.#options.maxBytes !== undefined && !this.#hasHeadroom) {
      this.#hasHeadroom = true;
      connection.limit(HEADROOM_BYTES);
      const committed = commit(essential);
      connection.limit(0);
      this.#hasHeadroom = false;
      return committed;
    }
    if (this.#reserve?.release()) return commit(essential);
    for (const write of essential) write.reject(reason);
    return undefined;
  }

  /**
   * On a full disk SQLite's log begins again as soon as it can, or each essential change would take more of the reserve. To move the
   * log into the database may take as much space as the log has.
   */
  save(connection: SqliteConnection | undefined): void {
    for (;;) {
      try {
        connection?.checkpoint();
        return;
      } catch {
        const canHelp = (this.#reserve?.kept ?? 0) >= fileSize(`${this.#options.file}-wal`);
        if (!canHelp || !this.#reserve?.release()) return; // The next write tries it again.
      }
    }
  }
}

function rejectOthers(group: readonly QueuedWrite[], reason: StorageError, nextRevision: number): QueuedWrite[] {
  return group.filter((write) => {
    const isEssential = isEssentialWrite(write.changes, nextRevision);
    if (!isEssential) write.reject(reason);
    return isEssential;
  });
}

/** The last change is the purpose of the write: the others belong to it. */
function isEssentialWrite(changes: readonly Change[], revision: number): boolean {
  const change = changes.at(-1);
  if (change === undefined) return true; // It only waits for the others.
  if (change.essentialBytes === undefined) return false;
  return change.essentialBytes === Number.POSITIVE_INFINITY || change.encode(revision).length <= change.essentialBytes;
}
