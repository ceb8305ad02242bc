import type { Clock } from '@asterism/runtime';

/** What is waited for each thing that changes at the same time, and for all of them at most. */
const MS_EACH = 5;
const LONGEST_MS = 5_000;

/**
 * Gathers changes of one thing: the first one starts a time within which others join it. Where many things change at once, they
 * are gathered for longer, 5 ms for each and at most 5 s, so that what is to be done comes before what is to be told of it, and
 * is told once. Nothing is lost by asking too often, or too seldom.
 */
export class Coalescer {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many ms are left until what has changed is `waitMs` old, or older where many wait; 0 when it is time. */
  remaining(key: string, waitMs: number): number {
    const now = this.#clock.now();
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    const others = this.#since.size - 1;
    return Math.max(0, since + Math.max(waitMs, Math.min(others * MS_EACH, LONGEST_MS)) - now);
  }

  /** As `remaining`, of what has changed before; 0 where nothing has. */
  left(key: string, waitMs: number): number {
    return this.#since.has(key) ? this.remaining(key, waitMs) : 0;
  }

  /** Nothing is open: it was written, or it has changed back. */
  settled(key: string): void {
    this.#since.delete(key);
  }
}
