import type { Clock } from '@asterism/client';

/** Lets one loop wait for whatever comes first: that somebody rings, or that time passes. A ring while nobody waits is kept. */
export class Doorbell {
  readonly #clock: Clock;
  #rung = false;
  #answer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#answer?.();
  }

  /** Resolves also when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = Number.isFinite(ms) ? this.#clock.setTimer(resolve, ms) : undefined;
      const onAbort = (): void => resolve();
      this.#answer = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
      await promise;
      signal.removeEventListener('abort', onAbort);
      this.#answer = undefined;
      cancel?.();
    }
    this.#rung = false;
  }
}
