import { type Backoff, backoff } from '@asterism/runtime';

/** When to try each thing again: 250 ms after its first failure, then twice as late each time, at most a minute. */
export class Retries {
  readonly #random: () => number;
  readonly #failing = new Map<string, Backoff>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** For a thing that failed, once more: how many ms to wait. */
  next(key: string): number {
    const failing =
      this.#failing.get(key) ??
      backoff({ initialMs: 250, factor: 2, capMs: 60_000, jitter: 0.2, random: this.#random });
    this.#failing.set(key, failing);
    return failing.next();
  }

  succeeded(key: string): void {
    this.#failing.delete(key);
  }
}
