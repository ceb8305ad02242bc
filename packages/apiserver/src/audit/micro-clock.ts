/** A clock of milliseconds and one that runs evenly may be so far apart before the former is believed. */
const TOLERANCE_MS = 2;

/** Microseconds since 1970: `clock` (ms) says when it is, a finer one what lies in between, so that events keep their order. */
export function createMicroClock(clock: () => number): () => number {
  let base = clock() - performance.now();
  return () => {
    const fine = performance.now();
    const coarse = clock();
    if (Math.abs(base + fine - coarse) > TOLERANCE_MS) base = coarse - fine;
    return Math.round((base + fine) * 1000);
  };
}

/** As `metav1.MicroTime` is written: `2026-01-02T03:04:05.000678Z`. */
export function formatMicroTime(microseconds: number): string {
  const rest = String(microseconds % 1000).padStart(3, '0');
  return `${new Date(Math.floor(microseconds / 1000)).toISOString().slice(0, -1)}${rest}Z`;
}
