import type { Clock } from '@asterism/client';

/** A clock that stands still until somebody waits, and then jumps to the end of that wait. */
export interface JumpingClock extends Clock {
  /** Every wait, in ms. */
  readonly waits: number[];
}

export function jumpingClock(): JumpingClock {
  const waits: number[] = [];
  let at = 0;
  return {
    waits,
    wall: () => new Date(at),
    monotonic: () => at,
    setTimer(callback, ms) {
      waits.push(ms);
      const timer = setImmediate(() => {
        at += ms;
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}
