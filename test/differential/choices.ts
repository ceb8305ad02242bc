import { mulberry32 } from '../soak/mulberry32.ts';

/** Choices that follow from a seed alone: the same seed and name give the same case on every machine. */
export class Choices {
  /** From 0 to below 1. */
  readonly next: () => number;

  /** `name` keeps the cases of one seed apart, so that a new family of cases leaves the others as they were. */
  constructor(seed: number, name: string) {
    let state = (seed ^ 0x9e3779b9) >>> 0;
    for (const character of name) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
    this.next = mulberry32(state);
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
