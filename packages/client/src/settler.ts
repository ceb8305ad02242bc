/** V8 keeps one of each shorter string by itself. */
const LONG_STRING = 11;
/** Longer ones are seldom equal, and cost much to look up. */
const LONGEST_STRING = 256;
/** How many strings are remembered, each in the place that its end gives it; a power of two. */
const STRINGS = 8_192;

/** Freezes plain JSON to its leaves, with one string for all that are equal. */
export class Settler {
  readonly #strings: string[] = Array.from({ length: STRINGS }, () => '');

  settle(value: object): object {
    this.settleMembers(value);
    return Object.freeze(value);
  }

  /** All but the value itself. */
  settleMembers(value: object): void {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const member: unknown = value[i];
        if (typeof member === 'string') value[i] = this.shared(member);
        else if (typeof member === 'object' && member !== null) this.settle(member);
      }
      return;
    }
    const members = value as Record<string, unknown>;
    for (const key in members) {
      const member = members[key];
      if (typeof member === 'string') {
        const shared = this.#string(member);
        // Of one that V8 keeps itself, nothing is to be stored. `===` would not tell two of the same text apart.
        if (shared !== undefined) members[key] = shared;
      } else if (typeof member === 'object' && member !== null) this.settle(member);
    }
  }

  shared(text: string): string {
    return this.#string(text) ?? text;
  }

  /** The one string of that text; undefined for one that is not looked up. */
  #string(text: string): string | undefined {
    const { length } = text;
    if (length < LONG_STRING || length > LONGEST_STRING) return undefined;
    const step = (length >> 3) + 1;
    let hash = length;
    for (let i = length - 1; i >= 0; i -= step) hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1);
    hash = Math.imul(hash ^ text.charCodeAt(length - 2), 0x9e3779b1);
    const place = (hash ^ (hash >>> 15)) & (STRINGS - 1);
    if (this.#strings[place] !== text) this.#strings[place] = text;
    return this.#strings[place] as string;
  }
}
