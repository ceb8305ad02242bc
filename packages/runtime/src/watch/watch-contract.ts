import type { Clock, ResourceClient, Selectors, SubtreePool } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';

/**
 * What a watcher tells. `Init` begins a complete list (the first, or one after the history was lost), `InitApply` is one of
 * its objects, `InitDone` ends it: what was not named is gone. `Apply` and `Delete` are changes since. An `Init` may come
 * while another list is not done; it begins anew.
 *
 * @example {@link watchResource}
 */
export type WatcherEvent<T> =
  | { type: 'Init' }
  | { type: 'InitApply'; object: T }
  | { type: 'InitDone'; resourceVersion: string }
  | { type: 'Apply'; object: T }
  | { type: 'Delete'; object: T };

/**
 * Is told of one event. With a promise, nothing more is told until that is settled. `bytes` is the size of the object in the answer; on
 * average, if a page of objects came at once.
 *
 * @example {@link followResource}
 */
export type OnWatcherEvent<T> = (event: WatcherEvent<T>, bytes?: number) => void | Promise<void>;

/**
 * What a watcher is at, for readiness and health.
 *
 * @example {@link watchResource}
 */
export type WatcherProgress =
  | { state: 'listing' }
  /** A watch is open; `resourceVersion` is what has been seen. */
  | { state: 'watching'; resourceVersion: string }
  /** It failed, and tries again after `delayMs`. */
  | { state: 'waiting'; error: unknown; delayMs: number };

/**
 * As much of a client as a watcher needs.
 *
 * @example {@link watchResource}
 */
export type WatchableResource<T extends KubeObject = KubeObject> = Pick<
  ResourceClient<T>,
  'type' | 'list' | 'watch' | 'listLimits'
>;

/**
 * Where to watch, as of now.
 *
 * @example {@link watchResource}
 */
export interface WatchSource<T extends KubeObject> {
  client: WatchableResource<T>;
  /** Aborts when this client is replaced: the watch then resumes with the next one. */
  replaced?: AbortSignal | undefined;
  /**
   * Of {@link Cluster.answersAgain}: asked while the watcher waits because the server gave no answer. With true the wait is
   * over, and the next failure is a first one.
   */
  answersAgain?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Aborts when the server was found to have been restored from a backup: what is known is listed anew. */
  restored?: AbortSignal | undefined;
  /** Called by a watcher that finds it. Others of the same server may not: their kinds' versions may have grown again. */
  foundRestored?: (() => void) | undefined;
  /** False: this server sends no lists over watches. Not asked where no list is to come so. */
  sendsStreams?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Called by a watcher that finds it. */
  foundNoStreams?: (() => void) | undefined;
}

/**
 * What to watch of a kind, and how.
 *
 * @example {@link watchResource}
 */
export interface WatchResourceOptions extends Selectors {
  namespace?: string | undefined;
  /** Everything up to here is known from elsewhere: the first thing is a watch from it, and a list only if that is refused. */
  resourceVersion?: string | undefined;
  signal: AbortSignal;
  clock?: Clock | undefined;
  /** From 0 to below 1. */
  random?: (() => number) | undefined;
  /** Default 500. */
  pageSize?: number | undefined;
  /**
   * `stream` has the list sent over the watch (KEP-3157): less memory, for the server too. One that refuses it, or knows nothing of
   * it and so never ends the list, is at once asked for pages. Default `pages`.
   */
  initialList?: 'pages' | 'stream' | undefined;
  /** Default true. */
  cutManagedFields?: boolean | undefined;
  /** `metadata` of the objects alone. */
  metadataOnly?: boolean | undefined;
  /** Objects are frozen, and equal parts of them are one. */
  subtrees?: SubtreePool | undefined;
  onProgress?: ((progress: WatcherProgress) => void) | undefined;
}
