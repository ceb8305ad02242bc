/**
 * How delays grow.
 *
 * @example {@link backoff}
 */
export interface BackoffOptions {
  initialMs: number;
  factor: number;
  capMs: number;
  /** 1.0 adds between nothing and once the delay; 0 adds nothing. */
  jitter: number;
  /** From 0 to below 1. */
  random: () => number;
}

/**
 * Delays that grow with each failure.
 *
 * @example {@link backoff}
 */
export interface Backoff {
  next(): number;
  reset(): void;
}

/**
 * Delays that grow by a factor up to a cap, with jitter. The cap holds before jitter is added.
 *
 * @example
 * ```ts
 * const delays = backoff({ initialMs: 500, factor: 2, capMs: 30_000, jitter: 0.5, random: Math.random });
 * while (!(await reconcile(request, context))) await sleep(systemClock, delays.next(), signal);
 * delays.reset();
 * ```
 */
export function backoff({ initialMs, factor, capMs, jitter, random }: BackoffOptions): Backoff {
  let delay = initialMs;
  return {
    next() {
      const now = Math.min(delay, capMs);
      delay = Math.min(delay * factor, capMs);
      return now * (1 + jitter * random());
    },
    reset() {
      delay = initialMs;
    },
  };
}
