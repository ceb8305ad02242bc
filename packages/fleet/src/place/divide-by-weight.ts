import type { TieBreak } from './tie-break.ts';

export interface WeightedCluster {
  name: string;
  weight: number;
}

/** Replicas by the name of their cluster. A cluster without replicas has no entry. */
export type Division = ReadonlyMap<string, number>;

/**
 * Divides `replicas` in proportion to weights by the Webster method (highest averages, divisors 1, 3, 5, …): one replica
 * after the other goes to the cluster with the highest `weight / (2 · replicas + 1)`.
 *
 * Equal quotients: the cluster with fewer replicas, then the one that `tieBreak` puts first. Weight 0 gets nothing.
 *
 * @returns what each cluster gets; the sum is `replicas`, or 0 where no weight is positive.
 */
export function divideByWeight(replicas: number, clusters: readonly WeightedCluster[], tieBreak: TieBreak): Division {
  const parties = clusters.filter(({ weight }) => weight > 0).map((cluster) => new Party(cluster));
  const order = (a: Party, b: Party) => b.quotient - a.quotient || a.seats - b.seats || tieBreak(a.name, b.name);
  const heap = new Heap(parties, order);
  for (let left = parties.length > 0 ? replicas : 0; left > 0; left -= 1) heap.advanceTop((party) => party.seat());
  return new Map(parties.filter(({ seats }) => seats > 0).map(({ name, seats }) => [name, seats]));
}

class Party {
  readonly name: string;
  readonly weight: number;
  seats = 0;
  quotient: number;

  constructor({ name, weight }: WeightedCluster) {
    this.name = name;
    this.weight = weight;
    this.quotient = weight;
  }

  seat(): void {
    this.seats += 1;
    this.quotient = this.weight / (2 * this.seats + 1);
  }
}

/** A binary heap whose first element only ever moves back. */
class Heap<T> {
  readonly #items: T[];
  readonly #order: (a: T, b: T) => number;

  constructor(items: readonly T[], order: (a: T, b: T) => number) {
    this.#items = items.toSorted(order);
    this.#order = order;
  }

  /** Changes the first element and puts it where it then belongs. */
  advanceTop(change: (top: T) => void): void {
    const items = this.#items;
    const top = items[0];
    if (top === undefined) return;
    change(top);
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const first = items[left];
      if (first === undefined) break;
      const second = items[left + 1];
      const child = second !== undefined && this.#order(second, first) < 0 ? left + 1 : left;
      const moving = items[child] as T;
      if (this.#order(top, moving) <= 0) break;
      items[at] = moving;
      at = child;
    }
    items[at] = top;
  }
}
