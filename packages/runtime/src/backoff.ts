export interface BackoffOptions {
  initialMs: number;
  factor: number;
  capMs: number;
  /** 1.0 adds between nothing and once the delay; 0 adds nothing. */
  jitter: number;
  /** From 0 to below 1. */
  random: () => number;
}

/** Delays that grow with each failure. */
export interface Backoff {
  next(): number;
  reset(): void;
}

/** The cap holds before jitter is added. */
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
