import type { GroupVersionKind, KubeObject, Status } from '@asterism/machinery';
import type { DeleteOptions } from '../contract/delete-options.ts';
import type { FieldValidation } from '../contract/field-validation.ts';
import type { ServedResource } from '../contract/served-resource.ts';
import type { UserInfo } from '../contract/user-info.ts';
import type { Stored } from '../contract/stored.ts';
import type { StorageState } from '../storage/object-store.ts';

/**
 * What stands between the wire and the storage: every kind that is served, and the verbs on it with the semantics of a
 * Kubernetes API server. Knows nothing of HTTP, of authentication or of content types; whoever calls it has been
 * authorized. Every refusal is a `StatusError` in Kubernetes' words.
 */
export interface Registry extends AsyncDisposable {
  /** Every resource that is served now, built-in and custom, in the order of discovery (priority of groups, then names). */
  served(): readonly ServedResource[];
  /** Versions that are served too, for old clients alone: {@link find} finds them. */
  legacy(): readonly ServedResource[];
  find(group: string, version: string, resource: string): ServedResource | undefined;
  /** Called after {@link served} has changed (a CRD came, changed or went). Returns what ends it. */
  onChange(listener: () => void): () => void;
  /** The newest resourceVersion of the whole server. */
  readonly resourceVersion: string;

  /**
   * Calls `listener` with every committed change of everything that is served, in order, within the commit: for controllers
   * in the same process, which would otherwise need a watch for each kind. It must not throw, and returns at once. Returns
   * what ends it.
   */
  observe(listener: (change: ObservedChange) => void): () => void;

  /** Resolves when all that was to be written before is told of, or refused: nothing of it can appear any more. */
  settled(): Promise<void>;
  /** What the database is like: its damaged objects, and whether it has space. */
  readonly storage: StorageState;

  /**
   * Whatever a resource of a definition was when it was found: what is served in its place now is asked, and where that is
   * nothing, the answer is 404.
   */
  get(resource: ServedResource, ref: ObjectRef, options?: GetOptions): Promise<Stored>;
  list(resource: ServedResource, options?: ListOptions): Promise<StoredList>;
  watch(resource: ServedResource, options: WatchOptions): Promise<WatchStream>;
  create(resource: ServedResource, object: KubeObject, context: WriteContext): Promise<Stored>;
  /** `created` is true where the kind allows a PUT to create what is missing (Lease, Event, …). */
  update(resource: ServedResource, ref: ObjectRef, object: KubeObject, context: WriteContext): Promise<Written>;
  /** `created` is true where an apply made the object. */
  patch(resource: ServedResource, ref: ObjectRef, patch: Patch, context: WriteContext): Promise<Written>;
  delete(resource: ServedResource, ref: ObjectRef, options: DeleteOptions, context: WriteContext): Promise<Deleted>;
  /** Deletes what the selection holds and answers with a list of it. */
  deleteCollection(
    resource: ServedResource,
    selection: Selection,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<StoredList>;
  /**
   * Asks admission webhooks about what is neither an object nor stored: a connection, with its options as the object, or a
   * review. Resolves with the object as they want it.
   */
  admitUnstored(resource: ServedResource, subject: UnstoredSubject, context: WriteContext): Promise<KubeObject>;
  close(): Promise<void>;
}

export interface UnstoredSubject {
  operation: 'CREATE' | 'CONNECT';
  object: KubeObject;
  /** Where it is not that of the resource or subresource. */
  kind?: GroupVersionKind;
}

/** What happened to one object. */
export interface ObservedChange {
  /** The version in which the object is stored, or another served one. */
  readonly resource: ServedResource;
  readonly type: 'put' | 'delete';
  readonly namespace: string | undefined;
  readonly name: string;
  /** After the change; of a deletion, the object as it was at the end. */
  readonly stored: Stored;
}

export interface ObjectRef {
  namespace?: string | undefined;
  name: string;
}

export interface StoredList {
  items: readonly Stored[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** `created` decides between 200 and 201. */
export interface Written {
  stored: Stored;
  created: boolean;
}

/**
 * `stored` where the object is the answer (it is still there, or the kind answers so); else `status`, a Success.
 * `finalized`: it is gone; false while finalizers or a grace period hold it.
 */
export interface Deleted {
  stored?: Stored;
  status?: Status;
  finalized: boolean;
}

export interface GetOptions {
  /** As the client wrote it; validated here. */
  resourceVersion?: string | undefined;
  /** `status` gives the object, `scale` its Scale. */
  subresource?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Selectors are texts as the client wrote them; a faulty one is 400. */
export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** `deletecollection` takes these from a list too. */
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
}

export interface ListOptions extends Selection {
  /**
   * Leaves damaged objects out, instead of a 500 that names them: for what the server must know to serve anything. Whoever takes an
   * absent object for a deleted one must not ask for it.
   */
  skipDamaged?: boolean | undefined;
  /** Forbidden for a list: here to be refused. */
  sendInitialEvents?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface WatchOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  /** Forbidden with `resourceVersionMatch`, otherwise without meaning here. */
  continue?: string | undefined;
  allowBookmarks?: boolean | undefined;
  /** Undefined means "not said", which is different from false. */
  sendInitialEvents?: boolean | undefined;
  /** Ends the stream, as does {@link WatchStream.close}. */
  signal?: AbortSignal | undefined;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** One event, one and the same object for every watcher that receives it. */
export interface WatchItem {
  readonly type: WatchEventType;
  /** The object; for `ERROR` a Status, after which the stream ends. */
  readonly object: Stored;
  /** `{"type":…,"object":…}\n`, encoded once however many watchers send it. */
  line(): Buffer;
}

/**
 * The events of one watcher in order. It holds a bounded queue: a consumer that falls too far behind finds the stream
 * ended, and lists again. Ended also by the signal, by `close()`, and when the kind is no longer served.
 */
export interface WatchStream extends AsyncIterable<WatchItem> {
  /** What is queued right now, without waiting; so that many events can leave in one write. */
  take(): readonly WatchItem[];
  /** No more come than {@link take} still gives. */
  readonly ended: boolean;
  /** Called when there is something to take, or nothing will come any more; for one reader, who does not iterate. */
  onReady(listener: () => void): void;
  close(): void;
}

/** What a write needs to know besides its object. */
export interface WriteContext {
  /** For `create`: the namespace of the URL. An object with another one is refused. */
  namespace?: string | undefined;
  /** For `create` of a subresource: the name of the URL. */
  name?: string | undefined;
  subresource?: string | undefined;
  user: UserInfo;
  dryRun?: boolean | undefined;
  /** Who owns the fields; for an apply required. Otherwise the caller gives `?fieldManager` or the user agent up to `/`. */
  fieldManager?: string | undefined;
  /** Default `Warn`, as upstream. */
  fieldValidation?: FieldValidation | undefined;
  /** What decoding already found, e.g. `duplicate field "spec.replicas"`; joined to the unknown fields found here. */
  strictErrors?: readonly string[] | undefined;
  /** Receives the text of each `Warning: 299` header. */
  warn?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** What the client gave as options of the operation, with their kind (`CreateOptions`); asked where a webhook is told. */
  options?: ((operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT') => KubeObject) | undefined;
  /** Receives what the audit log is to say beside the request. */
  annotate?: ((key: string, value: string) => void) | undefined;
  /** A write that follows from another request, which webhooks were asked about: they are not asked again. */
  internal?: boolean | undefined;
  /** Asked before an update or an apply makes what is missing: rejects where the user may change it and not create it. */
  authorizeCreate?: (() => Promise<void>) | undefined;
}

/** `fault`: why `body` is no such patch; the answer where there is an object to patch. */
export type Patch = (
  | { type: 'json'; body: unknown }
  | { type: 'merge'; body: unknown }
  | { type: 'strategic'; body: unknown }
  | { type: 'apply'; body: unknown; force?: boolean | undefined }
) & { fault?: Error | undefined };
