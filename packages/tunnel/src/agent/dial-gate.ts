import type { Clock } from '@asterism/client';

export interface DialGateOptions {
  clock: Clock;
  /** Delays after failures, growing; `reset` after a success. */
  backoff: { next(): number; reset(): void };
}

interface Waiter {
  rank: number;
  release(passed: boolean): void;
}

/**
 * Lets an agent's slots dial. While the hub answers the gate is open. After a failure or a loss it is closed, and one slot at a
 * time probes: of those that wait the one of lowest rank, after a delay. So a hub that returns gets one connection of each agent
 * first, and all others as soon as that stands.
 */
export class DialGate {
  readonly #clock: Clock;
  readonly #backoff: DialGateOptions['backoff'];
  readonly #waiters = new Set<Waiter>();
  #open = false;
  #probing = false;
  #delayMs = 0;
  #cancelTimer: (() => void) | undefined;

  constructor({ clock, backoff }: DialGateOptions) {
    this.#clock = clock;
    this.#backoff = backoff;
  }

  /** Resolves when the caller may dial, with whether it may: false once the signal is aborted. */
  pass(rank: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#open) return Promise.resolve(!signal.aborted);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        rank,
        release: (passed) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          resolve(passed);
        },
      };
      const onAbort = (): void => {
        waiter.release(false);
        if (this.#waiters.size === 0) this.#disarm();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#arm();
    });
  }

  /** A connection stands. */
  succeed(): void {
    this.#open = true;
    this.#probing = false;
    this.#backoff.reset();
    this.#disarm();
    for (const waiter of this.#waiters) waiter.release(true);
  }

  /** A dial failed. @returns the milliseconds until the next. */
  fail(minimumMs = 0): number {
    this.#open = false;
    this.#probing = false;
    this.#delayMs = Math.max(this.#backoff.next(), minimumMs);
    this.#arm();
    return this.#delayMs;
  }

  /** A connection that stood is gone. */
  lose(): void {
    if (this.#open) this.fail();
  }

  #arm(): void {
    if (this.#cancelTimer || this.#probing || this.#waiters.size === 0) return;
    this.#cancelTimer = this.#clock.setTimer(() => {
      this.#cancelTimer = undefined;
      const [first, ...others] = this.#waiters;
      if (!first) return;
      this.#probing = true;
      others.reduce((best, waiter) => (waiter.rank < best.rank ? waiter : best), first).release(true);
    }, this.#delayMs);
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
