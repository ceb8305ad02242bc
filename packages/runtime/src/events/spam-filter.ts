/** Events of one object at once, and in how many ms there may be one more. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Objects that are kept apart. */
const MAX_OBJECTS = 4_096;

interface Bucket {
  tokens: number;
  at: number;
}

/** A bucket of tokens for each object, as client-go's correlator of events has it: one that storms spends its own alone. */
export class SpamFilter {
  readonly #buckets = new Map<string, Bucket>();

  /** Takes a token of the object, if there is one. `now` is in ms. */
  passes(object: string, now: number): boolean {
    const { tokens, at } = this.#buckets.get(object) ?? { tokens: BURST, at: now };
    const filled = Math.min(BURST, tokens + (now - at) / REFILL_MS);
    const passes = filled >= 1;
    this.#buckets.delete(object);
    this.#buckets.set(object, { tokens: passes ? filled - 1 : filled, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_OBJECTS && oldest !== undefined) this.#buckets.delete(oldest);
    return passes;
  }

  /** A full bucket is as good as none. */
  forgetFull(now: number): void {
    for (const [object, { tokens, at }] of this.#buckets) {
      if (tokens + (now - at) / REFILL_MS >= BURST) this.#buckets.delete(object);
    }
  }
}
