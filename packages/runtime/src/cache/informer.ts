import type { Selectors } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import type { IndexFunction, Store } from './store.ts';

/**
 * What an informer watches of a kind, and what it keeps of it.
 *
 * @example {@link Cache}
 */
export interface InformerOptions<T extends KubeObject = KubeObject> extends Selectors {
  namespace?: string | undefined;
  /** `metadata` alone, with `apiVersion` and `kind`: a tenth of the memory and of the work. The server sends no more either. */
  metadataOnly?: boolean | undefined;
  /**
   * These alone are kept beside `apiVersion`, `kind` and `metadata`: `['spec.nodeName', 'spec.containers.image']`, the latter of
   * every container.
   */
  fields?: readonly string[] | undefined;
  /**
   * Cuts what is not needed before an object is stored, after `fields`. What it is given is frozen: it returns another object.
   * One function is one informer: pass the same one to share.
   */
  transform?: ((object: T) => T) | undefined;
}

/**
 * Who is told of what an informer sees.
 *
 * @example {@link Informer}
 */
export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** `initial`: it was there when the handler, or the informer, began. */
  onAdd?(object: T, initial: boolean): void;
  /** `inferred` when changes between the two were missed and found out by a new list. */
  onUpdate?(before: T, after: T, inferred: boolean): void;
  /** The last state known; `inferred` when the deletion itself was missed and found out by a new list. */
  onDelete?(object: T, inferred: boolean): void;
}

/**
 * A handler that was added to an informer.
 *
 * @example {@link Informer}
 */
export interface HandlerRegistration {
  /** This handler was told of every object of the first list. */
  readonly hasSynced: boolean;
  remove(): void;
}

/**
 * How an informer is, and what it hangs on.
 *
 * @example {@link Cache}
 */
export interface InformerStatus {
  /** What it is doing: `listing`, `watching`, waiting to try again, or stopped. */
  state: 'listing' | 'watching' | 'waiting' | 'stopped';
  /** The HTTP status (403, 404, …) or code (`ECONNREFUSED`) that it hangs on; undefined while all is well. */
  code: number | string | undefined;
  /** The failure in words. */
  message: string | undefined;
  /** Failures since the last success. */
  failures: number;
  /** When the server last answered, in ms of the monotonic clock; undefined before the first time. */
  lastContact: number | undefined;
  /** When an event or a bookmark last came, or the watch was opened, in ms of the monotonic clock. */
  lastEvent: number | undefined;
  /** Since when its watches run without a failure, in ms of the monotonic clock; undefined while none does. */
  watchingSince: number | undefined;
  resourceVersion: string | undefined;
}

/**
 * A shared view of one kind. Each call of `Cache.informer` gives a hold on it; the watch ends with the last hold.
 *
 * @example
 * ```ts
 * const pods = cluster.cache.informer(PODS, { labelSelector: 'app=web' });
 * pods.addIndex('node', ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
 * const registration = pods.addHandler({ onDelete: ({ metadata }) => logger.info({ pod: metadata?.name }, 'a pod has gone') });
 * await pods.synced(signal);
 * const onNode = pods.store.byIndex('node', 'node-1');
 * registration.remove();
 * pods.release();
 * ```
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly store: Store<T>;
  readonly hasSynced: boolean;
  readonly status: InformerStatus;
  /** Resolves with the first complete list; rejects when the signal aborts or the informer stops. */
  synced(signal?: AbortSignal): Promise<void>;
  /** A late handler is told of what is there at once. Handlers must not throw and must not wait. */
  addHandler(handler: InformerHandler<T>): HandlerRegistration;
  addIndex(name: string, index: IndexFunction<T>): void;
  /** Gives the hold up, with the handlers that were added through it. */
  release(): void;
}
