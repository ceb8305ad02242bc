import { expired, notFound } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { CacheEvent } from '../storage/resource-cache.ts';
import { storageReadError } from '../storage/storage-read-error.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import {
  type ContinueToken,
  decodeContinueToken,
  encodeContinueToken,
  expiredContinueToken,
} from './continue-token.ts';
import {
  invalidRevision,
  parseRevision,
  type ReadMoment,
  readMomentOfList,
  requireListOptions,
  tooLargeRevision,
  type WatchStart,
  watchStart,
} from './list-options.ts';
import type {
  GetOptions,
  ListOptions,
  ObjectRef,
  StoredList,
  WatchItem,
  WatchOptions,
  WatchStream,
} from './registry.ts';
import { type CompiledSelection, compileSelection } from './selection.ts';
import type { ServedVersion } from './served-version.ts';
import { EventFrame, WatchBroadcast, type Watcher } from './watch-broadcast.ts';
import { bookmarkItem, EncodedWatchItem, errorItem } from './watch-item.ts';
import { WatchQueue } from './watch-queue.ts';

/** How long a read waits for a resourceVersion that has not come yet, as upstream. */
const FUTURE_REVISION_MS = 3000;

export interface ObjectReaderOptions {
  store: ObjectStore;
  /** How often watchers get a bookmark. */
  bookmarkMilliseconds: number;
  /** How many events may wait for one watcher. */
  watchQueueLimit: number;
}

/** `get`, `list` and `watch`: everything that only reads, from memory alone. */
export class ObjectReader {
  readonly #store: ObjectStore;
  readonly #queueLimit: number;
  readonly #broadcasts = new Map<ServedVersion, { broadcast: WatchBroadcast; stop: () => void }>();
  readonly #bookmarks: NodeJS.Timeout;
  /** Versions that are no longer served: a watch that waited until then ends as well. */
  readonly #ended = new WeakSet<ServedVersion>();

  constructor(options: ObjectReaderOptions) {
    this.#store = options.store;
    this.#queueLimit = options.watchQueueLimit;
    this.#bookmarks = setInterval(() => this.bookmark(), options.bookmarkMilliseconds);
    this.#bookmarks.unref();
  }

  async get(resource: ServedVersion, ref: ObjectRef, options: GetOptions = {}): Promise<StoredObject> {
    if (options.resourceVersion) {
      const revision = parseRevision(options.resourceVersion);
      if (revision === undefined) throw invalidRevision(options.resourceVersion);
      await this.#waitFor(revision);
    }
    requireReadable(this.#store, resource, ref);
    const stored = this.#store.get(resource.groupResource, ref.namespace, ref.name);
    if (!stored) throw notFound(resource.type, ref.name);
    return resource.view(stored);
  }

  async list(resource: ServedVersion, options: ListOptions = {}): Promise<StoredList> {
    requireListOptions(options);
    const selection = compileSelection(resource, options);
    const token = options.continue ? decodeContinueToken(options.continue) : undefined;
    const moment = readMomentOfList(options);
    if (moment.at !== 'latest') await this.#waitFor(moment.revision);
    if (!options.skipDamaged) this.#requireIntact(resource, selection);
    return this.#page(resource, selection, { moment, token, limit: options.limit ?? 0 });
  }

  async watch(resource: ServedVersion, options: WatchOptions): Promise<WatchStream> {
    const start = watchStart(options);
    const selection = compileSelection(resource, options);
    if (start.initial) await this.#waitFor(start.revision);
    const begin = this.#beginning(resource, selection, start, options);
    const queue = new WatchQueue({
      limit: this.#queueLimit,
      backlog: begin.backlog,
      onClose: () => this.#detach(resource, watcher),
    });
    const watcher: Watcher = { queue, selection, bookmarks: options.allowBookmarks === true, after: begin.after };
    if (begin.failed || this.#ended.has(resource)) queue.end();
    else this.#attach(resource, watcher, options.signal);
    return queue;
  }

  /** Sends a bookmark to every watcher that asked for them. */
  bookmark(): void {
    for (const { broadcast } of this.#broadcasts.values()) broadcast.bookmark(this.#store.revision);
  }

  /** Ends the watches of a version that is no longer served, or all. */
  endWatches(resource?: ServedVersion): void {
    if (resource) this.#ended.add(resource);
    for (const [each, { broadcast }] of this.#broadcasts) if (!resource || each === resource) broadcast.end();
  }

  close(): void {
    clearInterval(this.#bookmarks);
    this.endWatches();
  }

  /** Throws a `StatusError` 500 if a damaged object may be among those selected: its labels and fields are not known. */
  #requireIntact(resource: ServedVersion, { prefix, key }: CompiledSelection): void {
    const cache = this.#store.cache(resource.groupResource);
    const damaged = cache.damaged(prefix);
    if (damaged.length === 0 || (key !== undefined && !cache.isDamaged(key))) return;
    throw storageReadError(damaged, resource.type);
  }

  #page(
    resource: ServedVersion,
    selection: CompiledSelection,
    { moment, token, limit }: { moment: ReadMoment; token: ContinueToken | undefined; limit: number },
  ): StoredList {
    const cache = this.#store.cache(resource.groupResource);
    const now = this.#store.revision;
    if (token && token.revision > now) throw tooLargeRevision(token.revision, now);
    const wanted = token ? token.revision : moment.at === 'exact' ? moment.revision : now;
    const revision = wanted < 0 ? now : wanted;
    const start = token ? selection.prefix + token.start : selection.prefix;
    const entries = cache.entriesAt(revision, selection.prefix, start);
    if (!entries) {
      if (token) throw expiredContinueToken(token);
      throw expired(`The resourceVersion for the provided list is too old.`);
    }
    const items: StoredObject[] = [];
    let next: string | undefined;
    for (const [key, object] of entries) {
      if (limit > 0 && items.length >= limit) {
        next = key;
        break;
      }
      if (selection.matches(object)) items.push(resource.view(object));
    }
    const list: StoredList = { items, resourceVersion: String(revision) };
    if (next !== undefined) {
      list.continue = encodeContinueToken({ revision, start: next.slice(selection.prefix.length) });
      // Whether what remains matches a selector is not known before it is looked at.
      if (!selection.selective) list.remainingItemCount = cache.countAt(revision, selection.prefix, next);
    }
    return list;
  }

  #beginning(
    resource: ServedVersion,
    selection: CompiledSelection,
    start: WatchStart,
    options: WatchOptions,
  ): { backlog: Iterable<WatchItem>; after: number; failed?: boolean } {
    const cache = this.#store.cache(resource.groupResource);
    const now = this.#store.revision;
    if (start.initial) {
      this.#requireIntact(resource, selection);
      const objects = [...cache.intactEntries(selection.prefix, selection.prefix)]
        .map(([, object]) => object)
        .filter(selection.matches);
      const end = options.sendInitialEvents && options.allowBookmarks ? [bookmarkItem(resource, now, true)] : [];
      return { backlog: initialItems(resource, objects, end), after: now };
    }
    if (start.revision === undefined || start.revision >= now) return { backlog: [], after: start.revision ?? now };
    const events = cache.eventsAfter(start.revision);
    if (!events) {
      const gone = expired(`too old resource version: ${start.revision} (${now})`);
      return { backlog: [errorItem(gone, now)], after: now, failed: true };
    }
    return { backlog: pastItems(resource, selection, events), after: now };
  }

  #attach(resource: ServedVersion, watcher: Watcher, signal: AbortSignal | undefined): void {
    let entry = this.#broadcasts.get(resource);
    if (!entry) {
      const broadcast = new WatchBroadcast(resource);
      const stop = this.#store.subscribe(resource.groupResource, (event) => broadcast.offer(event));
      this.#broadcasts.set(resource, (entry = { broadcast, stop }));
    }
    entry.broadcast.add(watcher);
    if (signal?.aborted) watcher.queue.close();
    else signal?.addEventListener('abort', () => watcher.queue.close(), { once: true });
  }

  #detach(resource: ServedVersion, watcher: Watcher): void {
    const entry = this.#broadcasts.get(resource);
    entry?.broadcast.remove(watcher);
    if (entry?.broadcast.size !== 0) return;
    entry.stop();
    this.#broadcasts.delete(resource);
  }

  async #waitFor(revision: number): Promise<void> {
    if (await this.#store.reached(revision, FUTURE_REVISION_MS)) return;
    throw tooLargeRevision(revision, this.#store.revision);
  }
}

/** Throws a `StatusError` 500 if the object is stored and cannot be read. */
export function requireReadable(store: ObjectStore, resource: ServedVersion, { namespace, name }: ObjectRef): void {
  const { groupResource, type } = resource;
  if (!store.isDamaged(groupResource, namespace, name)) return;
  throw storageReadError([{ groupResource, namespace: namespace ?? '', name }], type);
}

function* initialItems(
  resource: ServedVersion,
  objects: readonly StoredObject[],
  end: readonly WatchItem[],
): Generator<WatchItem> {
  for (const object of objects) yield new EncodedWatchItem('ADDED', resource.view(object));
  yield* end;
}

function* pastItems(
  resource: ServedVersion,
  selection: CompiledSelection,
  events: readonly CacheEvent[],
): Generator<WatchItem> {
  for (const event of events) {
    if (selection.namespace !== '' && event.namespace !== selection.namespace) continue;
    const item = new EventFrame(resource, event).itemFor(selection);
    if (item) yield item;
  }
}
