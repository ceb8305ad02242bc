import { type KubeObject, objectKey } from '@asterism/machinery';

/**
 * The values under which an object stands in an index.
 *
 * @example {@link Informer}
 */
export type IndexFunction<T> = (object: T) => readonly string[];

/**
 * The objects that an informer holds, frozen and never copied. Keys are `namespace/name`, or `name`.
 *
 * @example {@link Informer}
 */
export interface Store<T extends KubeObject = KubeObject> {
  readonly size: number;
  get(key: string): T | undefined;
  list(): T[];
  keys(): string[];
  /** Throws when there is no index of that name. */
  byIndex(index: string, value: string): T[];
}

interface Index<T> {
  valuesOf: IndexFunction<T>;
  keys: Map<string, Set<string>>;
}

/** A {@link Store} and what changes it. */
export class ObjectStore<T extends KubeObject> implements Store<T> {
  #objects = new Map<string, T>();
  #indexes: Map<string, Index<T>> | undefined;

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  byIndex(index: string, value: string): T[] {
    const found = this.#indexes?.get(index);
    if (!found) throw new Error(`there is no index "${index}"; add it with addIndex`);
    return [...(found.keys.get(value) ?? [])].map((key) => this.#objects.get(key) as T);
  }

  /** Adding the same function again changes nothing. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const present = this.#indexes?.get(name);
    if (present?.valuesOf === valuesOf) return;
    if (present) throw new Error(`there is another index "${name}" already`);
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes ??= new Map();
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) enter(index, key, object);
  }

  /** Returns what stood there before. */
  set(object: T): T | undefined {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes?.values() ?? []) {
      if (before) leave(index, key, before);
      enter(index, key, object);
    }
    return before;
  }

  /** Returns what stood there. */
  delete(key: string): T | undefined {
    const before = this.#objects.get(key);
    if (!before) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes?.values() ?? []) leave(index, key, before);
    return before;
  }

  /** Swaps everything at once; returns what there was. */
  replace(objects: Map<string, T>): Map<string, T> {
    const before = this.#objects;
    this.#objects = objects;
    for (const index of this.#indexes?.values() ?? []) {
      index.keys.clear();
      for (const [key, object] of objects) enter(index, key, object);
    }
    return before;
  }
}

function enter<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    if (keys) keys.add(key);
    else index.keys.set(value, new Set([key]));
  }
}

function leave<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}
