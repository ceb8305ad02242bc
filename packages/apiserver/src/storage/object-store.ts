import { BytePacker } from './byte-packer.ts';
import { cacheKey } from './cache-key.ts';
import { Discard } from './discard.ts';
import { EncodedChange } from './encoded-change.ts';
import { DEFAULT_HISTORY, type HistoryBounds, HistoryWindow } from './history-window.ts';
import { rebuildEvents } from './rebuild-events.ts';
import { type CacheEvent, ResourceCache } from './resource-cache.ts';
import type { Change, Committed, Contents, Storage, StorageSizes, StoredRow, WriteOutcome } from './storage.ts';
import { StorageError } from './storage-error.ts';
import { StoredObject } from './stored-object.ts';
import type { ObjectChange, StorageKey } from '../contract/object-change.ts';
import { storageWriteError } from './storage-write-error.ts';

export interface ObjectStoreOptions {
  storage: Storage;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** What is kept in memory of the past, for watches to resume and lists to page. Default: as the storage has it. */
  history?: HistoryBounds;
}

/** What an operator should know of the database. */
export interface StorageState {
  /** The objects that are stored and cannot be read. */
  readonly damaged: readonly StorageKey[];
  readonly notes: readonly string[];
  /** See {@link Storage.full}. */
  readonly full: StorageError | undefined;
  readonly sizes: StorageSizes | undefined;
  onFull(listener: (full: StorageError | undefined) => void): void;
}

export type EventListener = (event: CacheEvent) => void;

const LEASES = 'leases.coordination.k8s.io';
/** A Lease or an object that is being deleted may grow by so much when there is no space: a status, a condition, a holder. */
const ESSENTIAL_GROWTH_BYTES = 1024;
/** An event where {@link HistoryWindow} finds the oldest of all resources. */
interface Remembered {
  readonly cache: ResourceCache;
  readonly event: CacheEvent;
  readonly time: number;
  readonly bytes: number;
}

/**
 * Every object of a server in memory, above a {@link Storage}: what Kubernetes calls the watch cache, and here the only
 * thing that is read. Lists and watches never touch the database; a write goes there first and comes back by its commit.
 *
 * A read after an acknowledged write sees it. All resources share one order of revisions.
 */
export class ObjectStore implements AsyncDisposable {
  readonly #storage: Storage;
  readonly #clock: () => number;
  readonly #caches = new Map<string, ResourceCache>();
  readonly #listeners = new Map<string, Set<EventListener>>();
  readonly #allListeners = new Set<(groupResource: string, event: CacheEvent) => void>();
  readonly #waiting = new Set<{ revision: number; resolve: () => void }>();
  /** The events of all resources in order, to forget the oldest first. */
  readonly #window: HistoryWindow<Remembered>;
  /** Of the last commit: whoever is told of it need not parse what was just there. */
  #fresh: StoredObject[] = [];
  readonly #packer: BytePacker | undefined;
  #revision = 0;
  #compacted = 0;
  #notes: readonly string[] = [];

  constructor(options: ObjectStoreOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#window = new HistoryWindow(options.history ?? options.storage.history ?? DEFAULT_HISTORY);
    if (!options.storage.keepsValues) this.#packer = new BytePacker(() => this.#caches.values());
  }

  /** Reads everything. Rejects as {@link Storage.open} does. */
  async open(): Promise<void> {
    const objects: LoadedObjects = new Map();
    // No function made here may outlive the start: it would hold all that was loaded for as long as it lives.
    const contents = await this.#storage.open(this.#committed, (row) => this.#take(row, objects));
    this.#revision = contents.revision;
    this.#compacted = contents.compacted;
    this.#load(contents, objects);
    this.#notes = contents.notes ?? [];
    const damaged = Map.groupBy(contents.damaged ?? [], ({ groupResource }) => groupResource);
    for (const [groupResource, rows] of damaged) {
      const byKey = rows.map((row) => [cacheKey(row.namespace, row.name), row] as const);
      this.cache(groupResource).setDamaged(new Map(byKey));
    }
  }

  /** What the database is like. */
  get state(): StorageState {
    const storage = this.#storage;
    return {
      damaged: [...this.#caches.values()].flatMap((cache) => cache.damaged()),
      notes: this.#notes,
      full: storage.full,
      sizes: storage.sizes?.(),
      onFull: (listener) => storage.onFull?.(listener),
    };
  }

  get revision(): number {
    return this.#revision;
  }

  cache(groupResource: string): ResourceCache {
    let cache = this.#caches.get(groupResource);
    if (!cache) this.#caches.set(groupResource, (cache = new ResourceCache(this.#compacted)));
    return cache;
  }

  /** Throws a `StatusError` 500 if the object is stored and cannot be read. */
  get(groupResource: string, namespace: string | undefined, name: string): StoredObject | undefined {
    const cache = this.cache(groupResource);
    const key = cacheKey(namespace, name);
    return cache.get(key) ?? cache.requireNotDamaged(key);
  }

  /** Whether the object is stored and cannot be read. */
  isDamaged(groupResource: string, namespace: string | undefined, name: string): boolean {
    return this.cache(groupResource).isDamaged(cacheKey(namespace, name));
  }

  /** Deletes an object that cannot be read. False if there is none. */
  async discard(key: StorageKey): Promise<boolean> {
    const outcome = await this.#write([new Discard(key)]);
    return outcome.committed !== undefined;
  }

  /**
   * Commits `change`. Resolves with the object as it is now kept (of a deletion: its last state), or with undefined where
   * the expected revision no longer holds and nothing was done. Rejects with a `StatusError` where the storage cannot write: 503,
   * or 500 where it is not known whether it did. Reads go on meanwhile.
   */
  async write(change: ObjectChange): Promise<StoredObject | undefined> {
    const encoded = new EncodedChange(change, this.#essentialBytes(change));
    const outcome = await this.#write([encoded]);
    return outcome.committed ? encoded.stored : undefined;
  }

  /**
   * Commits the last of `changes` as {@link write} does, and the others with it. Where one of the others is not as expected, nothing
   * is done.
   */
  async writeAfter(changes: readonly ObjectChange[]): Promise<StoredObject | 'companion changed' | undefined> {
    const encoded = changes.map((change) => new EncodedChange(change, this.#essentialBytes(change)));
    const outcome = await this.#write(encoded);
    if (outcome.committed) return encoded.at(-1)?.stored;
    return outcome.conflict === encoded.at(-1) ? undefined : 'companion changed';
  }

  /** Resolves when all that was to be written before is told of, or refused: nothing of it can appear any more. */
  async settled(): Promise<void> {
    await this.#write([]);
  }

  /** Calls `listener` with every change of the resource from now on, in order, within the commit. Returns what ends it. */
  subscribe(groupResource: string, listener: EventListener): () => void {
    let listeners = this.#listeners.get(groupResource);
    if (!listeners) this.#listeners.set(groupResource, (listeners = new Set()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** The same for every resource. */
  subscribeAll(listener: (groupResource: string, event: CacheEvent) => void): () => void {
    this.#allListeners.add(listener);
    return () => this.#allListeners.delete(listener);
  }

  /** Resolves with true once `revision` has been reached, or with false after `milliseconds`. */
  async reached(revision: number, milliseconds: number): Promise<boolean> {
    if (revision <= this.#revision) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { revision, resolve: () => resolve(true) };
    const timer = setTimeout(() => resolve(false), milliseconds);
    this.#waiting.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
    }
  }

  async close(): Promise<void> {
    this.#packer?.stop();
    await this.#storage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * See {@link Change.essentialBytes}. Deletions are essential, with what prepares them, for they free space; so are Leases, by which
   * members and controllers show that they are alive. None lets an object grow by more than a little.
   */
  #essentialBytes({ type, expected, object, groupResource, namespace, name }: ObjectChange): number | undefined {
    if (type === 'delete') return Number.POSITIVE_INFINITY;
    const isLease = groupResource === LEASES;
    if (!isLease && (expected === 0 || !object.metadata?.deletionTimestamp)) return undefined;
    return (this.cache(groupResource).get(cacheKey(namespace, name))?.size ?? 0) + ESSENTIAL_GROWTH_BYTES;
  }

  async #write(changes: readonly Change[]): Promise<WriteOutcome> {
    try {
      return await this.#storage.write(changes);
    } catch (error) {
      throw error instanceof StorageError ? storageWriteError(error) : error;
    }
  }

  readonly #committed = (changes: readonly Committed[]): void => {
    const time = this.#clock();
    for (const object of this.#fresh) object.forgetParsed();
    this.#fresh = [];
    for (const { groupResource, namespace, name, type, revision, value, change } of changes) {
      const cache = this.cache(groupResource);
      const key = cacheKey(namespace, name);
      this.#revision = revision;
      if (change?.discards) {
        cache.discard(key);
        continue;
      }
      const event: CacheEvent = {
        type,
        key,
        namespace,
        revision,
        time,
        object: change instanceof EncodedChange ? change.keep(revision, value) : new StoredObject(value, revision),
        previous: cache.get(key),
      };
      cache.apply(event);
      this.#packer?.note(event);
      this.#fresh.push(event.object);
      this.#remember(cache, event);
      for (const listener of this.#listeners.get(groupResource) ?? []) listener(event);
      for (const listener of this.#allListeners) listener(groupResource, event);
    }
    this.#forget(time);
    for (const waiter of this.#waiting) if (waiter.revision <= this.#revision) waiter.resolve();
  };

  #remember(cache: ResourceCache, event: CacheEvent): void {
    this.#window.push({ cache, event, time: event.time, bytes: cost(event) });
  }

  #forget(now: number): void {
    for (const { cache } of this.#window.expire(now)) cache.forgetOldest();
  }

  #take({ groupResource, namespace, name, revision, value }: StoredRow, objects: LoadedObjects): void {
    let ofResource = objects.get(groupResource);
    if (!ofResource) objects.set(groupResource, (ofResource = new Map()));
    const object = new StoredObject(value, revision);
    this.#packer?.place(object);
    ofResource.set(cacheKey(namespace, name), object);
  }

  #load(contents: Contents, objects: LoadedObjects): void {
    const events = Map.groupBy(contents.history, (change) => change.groupResource);
    for (const groupResource of new Set([...objects.keys(), ...events.keys()])) {
      const ofResource = objects.get(groupResource) ?? new Map<string, StoredObject>();
      this.cache(groupResource).load(ofResource, rebuildEvents(events.get(groupResource) ?? [], ofResource));
    }
    const byRevision = new Map<number, { cache: ResourceCache; event: CacheEvent }>();
    for (const cache of this.#caches.values()) {
      for (const event of cache.eventsAfter(contents.compacted) ?? []) byRevision.set(event.revision, { cache, event });
    }
    for (const { revision } of contents.history) {
      const entry = byRevision.get(revision);
      if (entry) this.#remember(entry.cache, entry.event);
    }
    this.#forget(this.#clock());
  }
}

/** By resource, then by key. */
type LoadedObjects = Map<string, Map<string, StoredObject>>;

/** The bytes that an event keeps alive which nothing else needs. */
function cost(event: CacheEvent): number {
  return (event.previous?.size ?? 0) + (event.type === 'delete' ? event.object.size : 0) + 200;
}
