import type { Clock } from '../clock.ts';

interface Timer {
  at: number;
  callback: () => void;
}

/** A clock for tests, which stands still until it is told to go on. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #waiters = new Set<() => void>();
  #now = 1_000_000;
  #ahead = 0;

  wall(): Date {
    return new Date(this.#now + this.#ahead);
  }

  monotonic(): number {
    return this.#now;
  }

  /** Sets the wall clock this much later, or earlier if negative. No time passes, and no timer fires. */
  setWall(byMs: number): void {
    this.#ahead += byMs;
  }

  setTimer(callback: () => void, ms: number): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
    return () => this.#timers.delete(timer);
  }

  /** How long until each timer, shortest first. */
  pending(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Calls back what is due by then, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = until;
  }

  /** Resolves when a timer is set whose delay fulfils `matches`; with the delay. */
  async timer(matches: (ms: number) => boolean): Promise<number> {
    for (;;) {
      const found = this.pending().find(matches);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }
}
