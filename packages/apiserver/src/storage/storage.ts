import type { StorageKey } from '../contract/object-change.ts';
import type { HistoryBounds } from './history-window.ts';
import type { StorageError } from './storage-error.ts';

/**
 * What an API server needs of a database: every object's newest bytes under a key, one global order of changes, and a log
 * of the last of them. Reads are served from memory, so a database is asked once, at the start, and told each change.
 *
 * S1. Revisions are integers that rise by one with every change of any object, over restarts too; none is given twice.
 * S2. A change is acknowledged, and told to anybody, only after it has been committed; a killed process loses nothing
 *     acknowledged.
 * S3. `onCommit` sees every committed change exactly once, in the order of revisions, before `write` resolves.
 * S4. A conflict changes nothing, not even the revision. It is told after `onCommit` has seen the change that it lost to.
 */
export interface Storage extends AsyncDisposable {
  /** What is kept of the past, here and in memory. Default: 5 minutes, 10,000 changes, 32 MiB. */
  readonly history?: HistoryBounds;
  /** True: it has the values of all objects and of every commit in memory itself, for as long as it lives. */
  readonly keepsValues?: boolean;
  /** Why ordinary changes are refused now: there is no space. Essential ones are made. Undefined while all are made. */
  readonly full?: StorageError | undefined;
  /** How large it is, in bytes; undefined where it has no files. */
  sizes?(): StorageSizes;
  /** Calls `listener` when {@link full} begins and ends. */
  onFull?(listener: (full: StorageError | undefined) => void): void;
  /**
   * Takes the database for this process and reads all of it, every object into `onObject`. Rejects with a {@link StorageError}: `LOCKED`, `CORRUPT`,
   * `NEWER`, `UNAVAILABLE`.
   */
  open(onCommit: CommitListener, onObject: (object: StoredRow) => void): Promise<Contents>;
  /**
   * Commits all `changes`, or none, after all that was asked for before. Rejects with a {@link StorageError} where the database cannot write: after `FAILED` alone it
   * is not known whether it did.
   */
  write(changes: readonly Change[]): Promise<WriteOutcome>;
  /** Makes a consistent copy of the database in `file`, which must not exist, while it is in use. */
  backup(file: string): Promise<void>;
  /** Commits what is queued, then lets go of the database. */
  close(): Promise<void>;
}

/** In bytes. */
export interface StorageSizes {
  database: number;
  /** Of the write-ahead log. */
  log: number;
  /** What the file system has left for this user. */
  free: number;
}

export type CommitListener = (changes: readonly Committed[]) => void;

export interface Change extends StorageKey {
  readonly type: 'put' | 'delete';
  /** The revision that the object has now; 0: it does not exist. Anything else is a conflict. */
  readonly expected: number;
  /**
   * The change is essential if its value has at most so many bytes: it is made when there is no space for others. Undefined: it is
   * not essential.
   */
  readonly essentialBytes?: number | undefined;
  /** Deletes a damaged row, whatever revision it has; `expected` and `encode` are not used. No watcher sees the change. */
  readonly discards?: boolean;
  /** The bytes at the revision that the change gets: what is kept, or for a deletion the last that watchers see. */
  encode(revision: number): Buffer;
}

export interface Committed extends StorageKey {
  readonly type: 'put' | 'delete';
  readonly revision: number;
  readonly value: Buffer;
  /** What this process asked for; undefined where another process wrote it, for a database that has several. */
  readonly change: Change | undefined;
}

export type WriteOutcome =
  | { readonly committed: readonly Committed[] }
  /** `conflict` is the change whose expectation did not hold, `actual` the revision found (0: there is no such object). */
  | { readonly committed?: undefined; readonly conflict: Change; readonly actual: number };

/** What there is beside the objects. */
export interface Contents {
  /** The newest revision ever given. */
  revision: number;
  /** Changes up to this one are no longer in {@link history}. */
  compacted: number;
  /** The last changes, oldest first. */
  history: readonly LoggedChange[];
  /** The objects that are stored and cannot be read: `onObject` does not get them. */
  damaged?: readonly StorageKey[];
  /** What else an operator should know, as parts of a sentence. */
  notes?: readonly string[];
}

export interface StoredRow extends StorageKey {
  readonly revision: number;
  readonly value: Buffer;
}

/**
 * One change of the past. What it made of the object is not kept twice: it is the `previous` of the object's next change,
 * or the object itself.
 */
export interface LoggedChange extends StorageKey {
  readonly type: 'put' | 'delete';
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The bytes before the change; undefined where it created the object. */
  readonly previous: Buffer | undefined;
}

/** One text for a key, for maps. */
export function formatStorageKey({ groupResource, namespace, name }: StorageKey): string {
  return `${groupResource}\n${namespace}\n${name}`;
}
