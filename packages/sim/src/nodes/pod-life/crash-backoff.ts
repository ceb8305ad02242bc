const FIRST_MS = 10_000;
const MOST_MS = 300_000;
const FORGET_MS = 2 * MOST_MS;

/** How long is waited before something that failed is tried again: not the first time, then 10 s, doubled up to 5 minutes. */
export class CrashBackoff {
  #delayMs = 0;
  #last = Number.NEGATIVE_INFINITY;

  /** When it may be tried again after it ended at `ended`. Ten minutes after the last try all is forgotten. */
  notBefore(ended: number): number {
    if (ended - this.#last > FORGET_MS) this.#delayMs = 0;
    return ended + this.#delayMs;
  }

  /** What is waited in ms, for messages. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** It is tried now. */
  tried(now: number): void {
    this.#delayMs = this.#delayMs === 0 ? FIRST_MS : Math.min(2 * this.#delayMs, MOST_MS);
    this.#last = now;
  }
}
