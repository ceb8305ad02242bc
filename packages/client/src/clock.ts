/**
 * Time, passed in so that tests can hold it.
 *
 * @example {@link systemClock}
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `ms`. A `background` timer does not keep the process alive. Returns what cancels it. */
  setTimer(callback: () => void, ms: number, options?: { background?: boolean }): () => void;
}

/**
 * The time of this machine.
 *
 * @example
 * ```ts
 * const cancel = systemClock.setTimer(() => logger.info({}, 'still waiting'), 5_000, { background: true });
 * cancel();
 * ```
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(callback, ms, options) {
    const timer = setTimeout(callback, ms);
    if (options?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`; rejects with the signal's reason as soon as that aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = clock.setTimer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
