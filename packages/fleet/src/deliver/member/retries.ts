import { type Backoff, backoff } from '@asterism/runtime';

/**
 * So many failures in a row, over some eight seconds, may be those of a server that is just starting: one of before 1.26 that left kinds
 * out is not asked for them again within 5 s.
 */
const MAY_PASS = 5;

/** When to try each thing again: 250 ms after its first failure, then twice as late each time, at most a minute. */
export class Retries {
  readonly #random: () => number;
  readonly #failing = new Map<string, { delays: Backoff; failures: number }>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** For a thing that failed, once more: how many ms to wait. */
  next(key: string): number {
    const failing = this.#failing.get(key) ?? { delays: this.#delays(), failures: 0 };
    failing.failures += 1;
    this.#failing.set(key, failing);
    return failing.delays.next();
  }

  /** Whether a failure of it, now, may be over when it is tried again. */
  mayPass(key: string): boolean {
    return (this.#failing.get(key)?.failures ?? 0) < MAY_PASS;
  }

  succeeded(key: string): void {
    this.#failing.delete(key);
  }

  #delays(): Backoff {
    return backoff({ initialMs: 250, factor: 2, capMs: 60_000, jitter: 0.2, random: this.#random });
  }
}
