import type { Query, QueryResult } from './query/query.ts';
import type { DeletedKey, ObjectRow, Source } from './row.ts';

/** How far a source is stored. */
export interface SourceState extends Source {
  /** Where a watch goes on; absent until a list was stored completely. */
  watermark?: string | undefined;
  /** A list that was begun and not finished. */
  replacing?: ReplaceProgress | undefined;
}

/** Where an unfinished list stands. */
export interface ReplaceProgress {
  /** The `continue` of the last page that was stored; absent before the first. */
  continue?: string | undefined;
  /** The list's resourceVersion. */
  resourceVersion?: string | undefined;
}

/** How much may be stored of one cluster. Beyond it writes that add to it are refused with `OVER_SHARE`. */
export interface Share {
  rows: number;
  /** Of the objects, as they were sent. */
  bytes: number;
}

/** How much is stored of one cluster. */
export interface Usage {
  rows: number;
  bytes: number;
}

export interface Changes {
  upserts?: readonly ObjectRow[] | undefined;
  deletes?: readonly DeletedKey[] | undefined;
  /** Where a watch goes on once these are stored. */
  watermark?: string | undefined;
  /** Of the cluster; without it there is no bound. */
  share?: Share | undefined;
}

/** What a write did. */
export interface WriteCount {
  written: number;
  /** Left alone: the stored row was the same or newer. */
  unchanged: number;
  deleted: number;
}

/**
 * Puts a complete list in the place of what is stored of a source, page by page. Readers see pages as they come; what the list
 * did not bring goes at the end. Every row is taken as the list has it, also with a lower resourceVersion than the stored one
 * (a cluster that was restored from a backup).
 */
export interface Replacement {
  /** Where to go on, when an earlier run was interrupted. */
  readonly progress: ReplaceProgress;
  /** Stores a page and, in the same transaction, how to go on behind it. @throws StoreError `SUPERSEDED`, `OVER_SHARE`. */
  add(rows: readonly ObjectRow[], progress: ReplaceProgress, share?: Share): Promise<WriteCount>;
  /** Deletes what no page brought and sets the watermark, in one transaction. */
  finish(watermark: string): Promise<WriteCount>;
}

/**
 * Copies of objects of many clusters, kept to be searched. The interface is that of a remote database; implementations differ in
 * where the rows lie.
 *
 * Each write is one transaction: a crash leaves a source with rows and watermark that belong together. Errors are StoreError.
 */
export interface SearchStore extends AsyncDisposable {
  /** What is known of one source; without a watermark when nothing is. */
  source(source: Source): Promise<SourceState>;
  /** Every source that is stored, or those of one cluster. */
  sources(cluster?: string): Promise<SourceState[]>;
  /**
   * Begins to replace what is stored of a source; or goes on with what an earlier run began, when `resume` is set and there is
   * one. Only the latest replacement of a source counts.
   */
  beginReplace(source: Source, options?: { resume?: boolean }): Promise<Replacement>;
  /** Stores changes that a watch brought. An upsert or delete that is older than the stored row is left out. */
  applyChanges(source: Source, changes: Changes): Promise<WriteCount>;
  query(query: Query): Promise<QueryResult>;
  /** What is stored of a cluster. */
  usage(cluster: string): Promise<Usage>;
  /**
   * Gives a part of the space that deleted rows left back to the disk. @returns whether there is more: then it is to be called again,
   * after others had their turn.
   */
  reclaim(): Promise<boolean>;
  /** Bounds the whole store. One that is larger already does not grow. */
  limit(bytes: number): Promise<void>;
  /** Forgets one source. @returns the rows that went. */
  dropSource(source: Source): Promise<number>;
  /** Forgets a cluster. @returns the rows that went. */
  dropCluster(cluster: string): Promise<number>;
  close(): Promise<void>;
}
