/** The day of a time (ms since 1970) in UTC: `2026-01-31`. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
