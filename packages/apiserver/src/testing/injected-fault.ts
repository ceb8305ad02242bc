import type { Injected } from './fault.ts';

/** A fault, how often it happened, and when it ends. */
export class InjectedFault<F> implements Injected {
  readonly fault: F;
  readonly #lifted = new AbortController();
  readonly #waiting = new Set<() => void>();
  #left: number;
  #hits = 0;

  /** It befalls `times` requests at most. */
  constructor(fault: F, times = Number.POSITIVE_INFINITY) {
    this.fault = fault;
    this.#left = times;
  }

  get hits(): number {
    return this.#hits;
  }

  /** Whether it may befall another one. */
  get isDue(): boolean {
    return this.#left > 0 && !this.#lifted.signal.aborted;
  }

  /** Aborts when it is lifted. */
  get lifted(): AbortSignal {
    return this.#lifted.signal;
  }

  happened(): void {
    this.#left--;
    this.#hits++;
    for (const check of this.#waiting) check();
  }

  async hit(count = 1): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (this.#hits >= count) resolve();
    };
    this.#waiting.add(check);
    check();
    await promise;
    this.#waiting.delete(check);
  }

  lift(): void {
    this.#lifted.abort();
  }

  [Symbol.dispose](): void {
    this.lift();
  }
}
