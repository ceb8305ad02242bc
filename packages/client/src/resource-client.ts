import type { KubeList, KubeObject, ResourceType, Status, WatchEvent } from '@asterism/machinery';
import type { ListLimits } from './bounded/read-limits.ts';
import type { SubtreePool } from './subtree-pool.ts';

/** One object within a kind. A namespaced kind needs `namespace`, any other must have none. */
export interface ObjectRef {
  namespace?: string | undefined;
  name: string;
}

export interface Selectors {
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** In what form objects come. */
export interface ReadOptions {
  /** Drops `metadata.managedFields` before the answer is parsed: less time, a third less memory. */
  cutManagedFields?: boolean | undefined;
  /** Equal parts of objects are one, and all of them frozen; `managedFields` are cut. See {@link SubtreePool}. */
  subtrees?: SubtreePool | undefined;
  /** The server sends `metadata` alone (`PartialObjectMetadata`); `apiVersion` and `kind` are those of the type. */
  metadataOnly?: boolean | undefined;
}

export interface GetOptions {
  subresource?: string | undefined;
  resourceVersion?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ListOptions extends Selectors, ReadOptions {
  /** All namespaces when absent. */
  namespace?: string | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined;
  signal?: AbortSignal | undefined;
}

export interface WatchOptions extends Selectors, ReadOptions {
  namespace?: string | undefined;
  resourceVersion?: string | undefined;
  /** Default true. */
  allowBookmarks?: boolean | undefined;
  /** Begin with an ADDED for each object there is, ended by a bookmark annotated `k8s.io/initial-events-end` (KEP-3157). */
  sendInitialEvents?: boolean | undefined;
  /** After how many seconds the server ends the watch. */
  timeoutSeconds?: number | undefined;
  /** Called when the server has taken the watch, which may be long before the first event. */
  onOpen?: (() => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface WriteOptions {
  dryRun?: boolean | undefined;
  fieldManager?: string | undefined;
  fieldValidation?: 'Strict' | 'Warn' | 'Ignore' | undefined;
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends WriteOptions {
  subresource?: string | undefined;
  /** The object whose subresource is created. */
  name?: string | undefined;
  /** Where the object itself names no namespace, as a `TokenRequest`. */
  namespace?: string | undefined;
}

export interface UpdateOptions extends WriteOptions {
  subresource?: string | undefined;
}

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

/** What to change. The kind is required: a body that is read as another kind does harm or fails with 415. */
export interface Patch {
  type: PatchKind;
  body: unknown;
}

export interface PatchOptions extends WriteOptions {
  subresource?: string | undefined;
  /** Takes over fields that others own; for `apply` alone. */
  force?: boolean | undefined;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean | undefined;
  subresource?: string | undefined;
}

export interface DeleteOptions {
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  gracePeriodSeconds?: number | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface DeleteCollectionOptions extends DeleteOptions, Selectors {
  /** Required for a namespaced kind: no call empties a whole cluster. */
  namespace?: string | undefined;
}

/**
 * What comes, in order: to be iterated over, or, at a fraction of the cost, called back with. The request is sent when either begins;
 * it ends with the loop, or when the callback throws.
 */
export interface EventStream<E> extends AsyncIterable<E> {
  /**
   * Resolves when the stream ends. Where `onEvent` returns a promise, nothing more is read until that is settled. `bytes` is the size of the
   * event in the answer.
   */
  forEach(onEvent: (event: E, bytes: number) => void | Promise<void>): Promise<void>;
}

/**
 * The objects of one kind. Everything rejects with `StatusError` when the server answers 400 or more, with `ClientError`
 * when no answer comes, and with the signal's reason when that aborts.
 */
export interface ResourceClient<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  /** How long a list in pages may be; absent: those of `LIST_LIMITS`. */
  readonly listLimits?: ListLimits | undefined;
  get(ref: ObjectRef, options?: GetOptions): Promise<T>;
  /** One answer; `metadata.continue` is set where there is more. Items always bear `apiVersion` and `kind`. */
  list(options?: ListOptions): Promise<KubeList<T>>;
  /** All of it in pages of `limit` (default 500). */
  pages(options?: ListOptions): AsyncIterable<KubeList<T>>;
  /**
   * What changes from `resourceVersion` on. The stream ends when the server ends the watch, and throws when it breaks. ERROR
   * events (an expired resourceVersion among them) come like any other.
   */
  watch(options?: WatchOptions): EventStream<WatchEvent<T>>;
  /** `apiVersion` and `kind` may be left out, here and in the other writes: they follow from the type. */
  create(object: T, options?: CreateOptions): Promise<T>;
  update(object: T, options?: UpdateOptions): Promise<T>;
  patch(ref: ObjectRef, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Server-side apply. */
  apply(object: T, options: ApplyOptions): Promise<T>;
  /** The object while it still goes (finalizers, grace period), or a `Status` when it is gone. */
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<T | Status>;
  deleteCollection(options?: DeleteCollectionOptions): Promise<KubeList<T> | Status>;
}
