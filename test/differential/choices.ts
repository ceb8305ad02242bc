/** Choices that follow from a seed alone: the same seed and name give the same case on every machine. */
export class Choices {
  #state: number;

  /** `name` keeps the cases of one seed apart, so that a new family of cases leaves the others as they were. */
  constructor(seed: number, name: string) {
    let state = (seed ^ 0x9e3779b9) >>> 0;
    for (const character of name) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
    this.#state = state;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
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

  /** Each item with even odds, in their order. */
  some<T>(from: readonly T[]): T[] {
    return from.filter(() => this.chance(0.5));
  }

  shuffled<T>(from: readonly T[]): T[] {
    const left = [...from];
    return Array.from(from, () => left.splice(Math.floor(this.next() * left.length), 1)).flat();
  }

  /** `value()` or an empty object, for `...`. */
  maybe<T extends object>(value: () => T, probability = 0.5): T | Record<string, never> {
    return this.chance(probability) ? value() : {};
  }

  times<T>(least: number, most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.int(least, most) }, (_, index) => make(index));
  }

  labels(): Record<string, string> {
    const names = ['app', 'tier', 'example.com/team', 'release'];
    return Object.fromEntries(this.some(names).map((name) => [name, this.pick(['a', 'b', 'c-1', ''])]));
  }
}
