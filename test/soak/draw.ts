/** What random cases draw from: numbers from 0 to below 1. */
export class Draw {
  readonly next: () => number;

  constructor(next: () => number) {
    this.next = next;
  }

  /** Both ends are possible. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const index = Math.floor(this.next() * from.length);
    if (from.length === 0) throw new Error('nothing to choose from');
    return from[index] as T;
  }
}
