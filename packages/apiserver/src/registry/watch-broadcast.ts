import type { CacheEvent } from '../storage/resource-cache.ts';
import { type StoredObject, withRevision } from '../storage/stored-object.ts';
import type { WatchItem } from './registry.ts';
import type { CompiledSelection } from './selection.ts';
import type { ServedVersion } from './served-version.ts';
import { bookmarkItem, EncodedWatchItem } from './watch-item.ts';
import type { WatchQueue } from './watch-queue.ts';

export interface Watcher {
  readonly queue: WatchQueue;
  readonly selection: CompiledSelection;
  readonly bookmarks: boolean;
  /** Only changes after this are for it. */
  readonly after: number;
}

/**
 * One change as the watchers of one served version see it. Whether it is ADDED, MODIFIED or DELETED depends on the selection;
 * each of these forms is made once.
 */
export class EventFrame {
  readonly event: CacheEvent;
  readonly #resource: ServedVersion;
  #added: WatchItem | undefined;
  #modified: WatchItem | undefined;
  #deleted: WatchItem | undefined;
  #left: WatchItem | undefined;

  constructor(resource: ServedVersion, event: CacheEvent) {
    this.#resource = resource;
    this.event = event;
  }

  /** What a watcher with this selection is told, if anything. */
  itemFor(selection: CompiledSelection): WatchItem | undefined {
    const { type, key, object, previous } = this.event;
    if (selection.key !== undefined && selection.key !== key) return undefined;
    const before = previous !== undefined && selection.matches(previous);
    if (type === 'delete') return before ? (this.#deleted ??= this.#item('DELETED', object)) : undefined;
    const now = selection.matches(object);
    if (now)
      return before
        ? (this.#modified ??= this.#item('MODIFIED', object))
        : (this.#added ??= this.#item('ADDED', object));
    if (!before) return undefined;
    // It left the selection: the watcher is shown what it knew, at the revision of the change that it is not shown.
    return (this.#left ??= this.#item('DELETED', withRevision(previous, this.event.revision)));
  }

  #item(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: StoredObject): WatchItem {
    return new EncodedWatchItem(type, this.#resource.view(object));
  }
}

/** Hands each change of one served version to those of its watchers whose namespace it concerns. */
export class WatchBroadcast {
  readonly #resource: ServedVersion;
  readonly #byNamespace = new Map<string, Set<Watcher>>();

  constructor(resource: ServedVersion) {
    this.#resource = resource;
  }

  get size(): number {
    let size = 0;
    for (const watchers of this.#byNamespace.values()) size += watchers.size;
    return size;
  }

  add(watcher: Watcher): void {
    const { namespace } = watcher.selection;
    const watchers = this.#byNamespace.get(namespace);
    if (watchers) watchers.add(watcher);
    else this.#byNamespace.set(namespace, new Set([watcher]));
  }

  remove(watcher: Watcher): void {
    const { namespace } = watcher.selection;
    const watchers = this.#byNamespace.get(namespace);
    if (watchers?.delete(watcher) && watchers.size === 0) this.#byNamespace.delete(namespace);
  }

  offer(event: CacheEvent): void {
    const frame = new EventFrame(this.#resource, event);
    this.#offerTo(this.#byNamespace.get(''), frame);
    if (event.namespace !== '') this.#offerTo(this.#byNamespace.get(event.namespace), frame);
  }

  /** Tells all that asked for bookmarks that they have seen everything up to `revision`. */
  bookmark(revision: number): void {
    const item = bookmarkItem(this.#resource, revision);
    for (const watcher of this.#all()) if (watcher.bookmarks && watcher.after <= revision) watcher.queue.push(item);
  }

  /** Ends every watch behind what it has been told. */
  end(): void {
    for (const watcher of this.#all()) watcher.queue.end();
  }

  #all(): Watcher[] {
    return [...this.#byNamespace.values()].flatMap((watchers) => [...watchers]);
  }

  #offerTo(watchers: ReadonlySet<Watcher> | undefined, frame: EventFrame): void {
    if (!watchers) return;
    for (const watcher of watchers) {
      if (frame.event.revision <= watcher.after) continue;
      const item = frame.itemFor(watcher.selection);
      if (item) watcher.queue.push(item);
    }
  }
}
