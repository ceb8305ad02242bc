/**
 * Time, passed in so that tests can hold it.
 *
 * @example {@link systemClock}
 */
export interface Clock {
  /**
   * The date, as people and certificates mean it. An administrator, NTP or a host can set it at any moment, in both directions.
   * Use it for timestamps in objects, and to compare with dates that others wrote (`notAfter`, `exp`, `renewTime`). It is a `Date`, so
   * that it cannot be mixed with {@link monotonic} by mistake.
   */
  wall(): Date;
  /**
   * Milliseconds since some start, by a clock that nobody sets. Use it for every duration, deadline and "already due". It may stop
   * while the machine sleeps, so it does not tell whether a credential has expired.
   */
  monotonic(): number;
  /**
   * Calls back once after `ms` of monotonic time. A `background` timer does not keep the process alive. Returns a function that cancels it.
   * `ms` may be of any size, `Infinity` included.
   */
  setTimer(callback: () => void, ms: number, options?: { background?: boolean }): () => void;
}

/** `setTimeout` fires at once if its delay exceeds 2^31-1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
  wall: () => new Date(wallNow()),
  monotonic: () => performance.now(),
  setTimer(callback, ms, options) {
    let timer: NodeJS.Timeout | undefined;
    const wait = (left: number): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      timer = setTimeout(() => (left > step ? wait(left - step) : callback()), step);
      if (options?.background) timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/**
 * The wall clock of this machine in milliseconds since 1970, for code that takes no {@link Clock}: timestamps and validity only. This module
 * alone reads it, and `npm run check` refuses `Date.now` elsewhere.
 */
export function wallNow(): number {
  return Date.now();
}

/**
 * The clock that a caller passed in. Callers without type checks may pass one that was made before {@link Clock.monotonic} existed: its
 * `now` then serves for both.
 */
export function completeClock(clock: Clock = systemClock): Clock {
  if (typeof clock.monotonic === 'function') return clock;
  const former = clock as unknown as { now(): number; setTimer: Clock['setTimer'] };
  return {
    wall: () => new Date(former.now()),
    monotonic: () => former.now(),
    setTimer: (callback, ms, options) => former.setTimer(callback, ms, options),
  };
}

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
