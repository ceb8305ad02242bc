import { storageReadError } from './storage-read-error.ts';
import type { StoredObject } from './stored-object.ts';
import type { StorageKey } from '../contract/object-change.ts';

/** What happened to one object, in the order of revisions. */
export interface CacheEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly namespace: string;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** After the change; of a deletion, the object as it was at the end, at the revision of the deletion. */
  readonly object: StoredObject;
  /** Before the change; undefined where it created the object. */
  readonly previous: StoredObject | undefined;
}

/**
 * All objects of one resource in memory, sorted by key, with their last changes. The key is `namespace/name`, or `name` for
 * cluster-scoped objects, in byte order, which is the order in which etcd lists them.
 */
export class ResourceCache {
  readonly #objects = new Map<string, StoredObject>();
  #keys: string[] = [];
  /** Oldest first; those before `#first` are forgotten, and not held any more. */
  #events: (CacheEvent | undefined)[] = [];
  #first = 0;
  /** Changes after this revision are all here. */
  #complete: number;
  /** Objects that are stored and cannot be read, by key. */
  #damaged: ReadonlyMap<string, StorageKey> = NOTHING;

  constructor(complete: number) {
    this.#complete = complete;
  }

  /** Damaged objects count: they exist. */
  get size(): number {
    return this.#objects.size + this.#damaged.size;
  }

  /** In no order. */
  objects(): Iterable<StoredObject> {
    return this.#objects.values();
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** The damaged objects whose key begins with `prefix`: nothing may be concluded from their absence. */
  damaged(prefix = ''): StorageKey[] {
    if (this.#damaged.size === 0) return [];
    return [...this.#damaged].filter(([key]) => key.startsWith(prefix)).map(([, row]) => row);
  }

  isDamaged(key: string): boolean {
    return this.#damaged.has(key);
  }

  /** Throws a `StatusError` 500 if the object is damaged. */
  requireNotDamaged(key: string): undefined {
    const row = this.#damaged.get(key);
    if (row) throw readError([row]);
  }

  setDamaged(rows: ReadonlyMap<string, StorageKey>): void {
    this.#damaged = rows;
  }

  /** The damaged object was deleted. */
  discard(key: string): void {
    this.#damaged = new Map([...this.#damaged].filter(([each]) => each !== key));
  }

  /** Fills the cache at the start. */
  load(objects: ReadonlyMap<string, StoredObject>, events: readonly CacheEvent[]): void {
    for (const [key, object] of objects) this.#objects.set(key, object);
    this.#keys = [...this.#objects.keys()].sort();
    this.#events = [...events];
  }

  apply(event: CacheEvent): void {
    const at = this.#indexOf(event.key);
    if (event.type === 'delete') {
      this.#objects.delete(event.key);
      if (this.#keys[at] === event.key) this.#keys.splice(at, 1);
    } else {
      this.#objects.set(event.key, event.object);
      if (this.#keys[at] !== event.key) this.#keys.splice(at, 0, event.key);
    }
    this.#events.push(event);
  }

  /** Forgets the oldest event. */
  forgetOldest(): void {
    const event = this.#events[this.#first];
    if (!event) return;
    this.#complete = event.revision;
    this.#events[this.#first++] = undefined;
    if (this.#first > 64 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The changes after `revision`, oldest first; undefined where some of them are forgotten. */
  eventsAfter(revision: number): readonly CacheEvent[] | undefined {
    if (revision < this.#complete) return undefined;
    let low = this.#first;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#events.slice(low) as CacheEvent[];
  }

  /**
   * How many objects at `revision` have a key that begins with `prefix` and is not before `start`. To be asked only of a
   * revision whose later changes are all here.
   */
  countAt(revision: number, prefix: string, start: string): number {
    let count = this.#end(prefix) - this.#indexOf(start > prefix ? start : prefix);
    for (const [key, before] of this.#before(revision, prefix, start)) {
      count += (before === undefined ? 0 : 1) - (this.#objects.has(key) ? 1 : 0);
    }
    return count;
  }

  /**
   * The objects of now whose key begins with `prefix`, from the key `start` on. Throws a `StatusError` 500 if one of them is damaged.
   */
  entries(prefix: string, start: string): Generator<readonly [string, StoredObject]> {
    const damaged = this.damaged(prefix);
    if (damaged.length > 0) throw readError(damaged);
    return this.intactEntries(prefix, start);
  }

  /** The same without the damaged ones, for what is right without them. */
  *intactEntries(prefix: string, start: string): Generator<readonly [string, StoredObject]> {
    const end = this.#end(prefix);
    for (let at = this.#indexOf(start > prefix ? start : prefix); at < end; at++) {
      const key = this.#keys[at];
      const object = key === undefined ? undefined : this.#objects.get(key);
      if (key !== undefined && object) yield [key, object];
    }
  }

  /**
   * The same as {@link entries} at an earlier revision: today's objects with the changes since undone. Undefined where some
   * of those changes are forgotten. Leaves damaged objects out: the caller asks for {@link damaged}.
   */
  entriesAt(revision: number, prefix: string, start: string): Iterable<readonly [string, StoredObject]> | undefined {
    if (revision < this.#complete) return undefined;
    const before = this.#before(revision, prefix, start);
    const now = this.intactEntries(prefix, start);
    return before.size === 0 ? now : undo(now, before);
  }

  /** What stood at `revision` under the keys that have changed since. */
  #before(revision: number, prefix: string, start: string): Map<string, StoredObject | undefined> {
    const before = new Map<string, StoredObject | undefined>();
    for (const event of this.eventsAfter(revision) ?? []) {
      if (event.key < start || !event.key.startsWith(prefix) || before.has(event.key)) continue;
      before.set(event.key, event.previous);
    }
    return before;
  }

  #indexOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #end(prefix: string): number {
    return prefix === '' ? this.#keys.length : this.#indexOf(`${prefix}\uffff`);
  }
}

const NOTHING: ReadonlyMap<string, StorageKey> = new Map();

function readError(rows: readonly StorageKey[]): Error {
  const [resource = '', ...group] = (rows[0]?.groupResource ?? '').split('.');
  return storageReadError(rows, { group: group.join('.'), resource });
}

/** Merges the sorted `now` with what `before` says of changed keys: an earlier object, or that there was none. */
function* undo(
  now: Iterable<readonly [string, StoredObject]>,
  before: ReadonlyMap<string, StoredObject | undefined>,
): Generator<readonly [string, StoredObject]> {
  const gone = [...before].filter(([, object]) => object !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  let next = 0;
  const earlierThan = function* (key: string | undefined): Generator<readonly [string, StoredObject]> {
    for (; next < gone.length; next++) {
      const [name, object] = gone[next] ?? [];
      if (name === undefined || object === undefined || (key !== undefined && name >= key)) return;
      yield [name, object];
    }
  };
  for (const entry of now) {
    yield* earlierThan(entry[0]);
    if (!before.has(entry[0])) yield entry;
  }
  yield* earlierThan(undefined);
}
