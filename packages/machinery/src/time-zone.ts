const DAY_MS = 86_400_000;

/** Whether the time zone database has the name, by the rules of Go's `time.LoadLocation`. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true;
  // Intl takes offsets and other cases too; files of the database are named exactly.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Local times are in ms, as if they were UTC. */
export interface TimeZone {
  toLocal(instant: number): number;
  /** The first instant of that local time; undefined if summer time skips it. */
  toInstant(local: number): number | undefined;
}

/** @throws RangeError for an unknown name. `Local` and no name are UTC. */
export function timeZoneOf(name: string): TimeZone {
  if (name === '' || name === 'UTC' || name === 'Local') {
    return { toLocal: (instant) => instant, toInstant: (local) => local };
  }
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const toLocal = (instant: number): number => {
    const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  return {
    toLocal,
    toInstant(local) {
      // The zone has the offset of the day before or of the day after.
      const guesses = [local - DAY_MS, local + DAY_MS].map((near) => local - (toLocal(near) - near));
      return guesses.sort((a, b) => a - b).find((guess) => toLocal(guess) === local);
    },
  };
}
