/** Where an item stands in line. */
export interface Place {
  priority: number;
  cluster: string;
  namespace: string;
}

/**
 * A queue in which the clusters take turns within a priority, and a cluster's namespaces within the cluster; within a
 * namespace the first to come is the first to go.
 */
export class FairQueue<T> {
  /** By priority, cluster and namespace. A Map's own order is the order of turns: who was served goes to its end. */
  readonly #lines = new Map<number, Map<string, Map<string, Set<T>>>>();
  readonly #places = new Map<T, Place>();
  #priorities: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  has(item: T): boolean {
    return this.#places.has(item);
  }

  /** An item that is in line already keeps its turn, unless its place is another. */
  add(item: T, place: Place): void {
    const present = this.#places.get(item);
    if (present && isSame(present, place)) return;
    this.delete(item);
    this.#places.set(item, { ...place });
    let clusters = this.#lines.get(place.priority);
    if (!clusters) {
      clusters = new Map();
      this.#lines.set(place.priority, clusters);
      this.#priorities = [...this.#lines.keys()].sort((a, b) => b - a);
    }
    const namespaces = getOrAdd(clusters, place.cluster, () => new Map<string, Set<T>>());
    getOrAdd(namespaces, place.namespace, () => new Set<T>()).add(item);
  }

  delete(item: T): void {
    const place = this.#places.get(item);
    if (!place) return;
    this.#places.delete(item);
    const clusters = this.#lines.get(place.priority);
    const namespaces = clusters?.get(place.cluster);
    const line = namespaces?.get(place.namespace);
    line?.delete(item);
    if (line?.size === 0) namespaces?.delete(place.namespace);
    if (namespaces?.size === 0) clusters?.delete(place.cluster);
    if (clusters?.size === 0) {
      this.#lines.delete(place.priority);
      this.#priorities = this.#priorities.filter((priority) => priority !== place.priority);
    }
  }

  /** Takes the next item out, passing over clusters that are not admitted. */
  take(admits: (cluster: string) => boolean): T | undefined {
    for (const priority of this.#priorities) {
      const clusters = this.#lines.get(priority);
      for (const [cluster, namespaces] of clusters ?? []) {
        if (!admits(cluster)) continue;
        for (const [namespace, line] of namespaces) {
          for (const item of line) {
            this.delete(item);
            toEnd(namespaces, namespace);
            if (clusters) toEnd(clusters, cluster);
            return item;
          }
        }
      }
    }
    return undefined;
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function toEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}

function isSame(a: Place, b: Place): boolean {
  return a.priority === b.priority && a.cluster === b.cluster && a.namespace === b.namespace;
}
