import type { TieBreak } from '../template/tie-break.ts';

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
  const seated = seatSureOnes(replicas, parties);
  const heap = new Heap(parties, order);
  for (let left = parties.length > 0 ? replicas - seated : 0; left > 0; left -= 1)
    heap.advanceTop((party) => party.seat());
  return new Map(parties.filter(({ seats }) => seats > 0).map(({ name, seats }) => [name, seats]));
}

/**
 * Gives out at once what the highest averages would give out first: all that are above an average at which, with one more for
 * each, they could not be too many. So a division costs by its clusters, and not by its replicas.
 *
 * @returns how many that were
 */
function seatSureOnes(replicas: number, parties: readonly Party[]): number {
  const doubled = 2 * replicas - parties.length;
  if (doubled <= 0) return 0;
  const average = parties.reduce((sum, { weight }) => sum + weight, 0) / doubled;
  let seated = 0;
  for (const party of parties) {
    // One less than the quotients say, for they are rounded.
    const seats = Math.floor((party.weight / average - 1) / 2) - 1;
    if (seats > 0) seated += party.seat(seats);
  }
  return seated;
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

  seat(count = 1): number {
    this.seats += count;
    this.quotient = this.weight / (2 * this.seats + 1);
    return count;
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
  advanceTop(change: (top: T) => unknown): void {
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
