import { Draw } from '../soak/draw.ts';
import { mulberry32 } from '../soak/mulberry32.ts';

/** Choices that follow from a seed alone: the same seed and name give the same case on every machine. */
export class Choices extends Draw {
  /** `name` keeps the cases of one seed apart, so that a new family of cases leaves the others as they were. */
  constructor(seed: number, name: string) {
    let state = (seed ^ 0x9e3779b9) >>> 0;
    for (const character of name) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
    super(mulberry32(state));
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
