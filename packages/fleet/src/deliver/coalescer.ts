import type { Clock } from '@asterism/runtime';

/**
 * Gathers changes of one thing: the first one starts a time within which others join it. Nothing is lost by asking too often,
 * or too seldom.
 */
export class Coalescer {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many ms are left until what has changed is `waitMs` old; 0 when it is time. */
  remaining(key: string, waitMs: number): number {
    const now = this.#clock.now();
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    return Math.max(0, since + waitMs - now);
  }

  /** Nothing is open: it was written, or it has changed back. */
  settled(key: string): void {
    this.#since.delete(key);
  }
}
