import type { Clock } from '@asterism/runtime';

/** So many things change at any time, and nothing waits for them. */
const FEW = 20;

/** How much longer is gathered where many things change at once, ms. */
export interface Throng {
  /** For each of them beyond the few. */
  eachMs: number;
  /** For all of them at most. */
  longestMs: number;
}

/**
 * For what a member's executor tells. Twice as long as a hub takes for a change even where it is slow: with less, telling of the first would
 * keep pace with doing the others, and slow it down.
 */
export const REPORTS: Throng = { eachMs: 10, longestMs: 4_000 };
/** For what the hub makes of it: longer, or it would tell of a change before the members' reports are there, and again after. */
export const SUMMARIES: Throng = { eachMs: 15, longestMs: 6_000 };

/**
 * Gathers changes of one thing: the first one starts a time within which others join it. Where many things change at once, they
 * are gathered for longer, so that what is to be done comes before what is to be told of it, and is told once. Nothing is lost
 * by asking too often, or too seldom.
 */
export class Coalescer {
  readonly #clock: Clock;
  readonly #throng: Throng;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock, throng: Throng) {
    this.#clock = clock;
    this.#throng = throng;
  }

  /** How many ms are left until what has changed is `waitMs` old, or older where many wait; 0 when it is time. */
  remaining(key: string, waitMs: number): number {
    const now = this.#clock.monotonic();
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    const { eachMs, longestMs } = this.#throng;
    const others = Math.max(0, this.#since.size - 1 - FEW);
    return Math.max(0, since + Math.max(waitMs, Math.min(others * eachMs, longestMs)) - now);
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
