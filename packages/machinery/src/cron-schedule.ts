/** When something recurs. */
export interface CronSchedule {
  /** The first time after `after`, both in ms; undefined where there is none in the next five years. */
  next(after: number): number | undefined;
}

interface Field {
  values: ReadonlySet<number>;
  /** It began with `*` or `?`: it restricts nothing. */
  any: boolean;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const NAMED = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const DURATION_UNITS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000 };
const DAY_MS = 86_400_000;

/**
 * Parses the five fields of a CronJob's schedule, `@hourly` and its like, and `@every 1h30m`, as robfig/cron does. Where day of
 * month and day of week are both given, either will do.
 *
 * @param timeZone an IANA name; UTC without it.
 * @throws Error that says which part cannot be read.
 */
export function parseCronSchedule(text: string, timeZone = 'UTC'): CronSchedule {
  const trimmed = text.trim();
  if (trimmed.startsWith('@every ')) return every(parseDuration(trimmed.slice(7).trim()));
  const fields = (NAMED.get(trimmed) ?? trimmed).split(/\s+/);
  if (fields.length !== 5)
    throw new Error(`expected exactly 5 fields, found ${fields.length}: ${JSON.stringify(text)}`);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const schedule = {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12, MONTHS),
    weekdays: parseField(weekday, 0, 6, DAYS),
  };
  const zone = zoneOf(timeZone);
  return {
    next(after) {
      const end = after + 5 * 366 * DAY_MS;
      let local = zone.toLocal(after);
      while (local < end) {
        local = nextLocal(schedule, local, end);
        const instant = local === Number.POSITIVE_INFINITY ? undefined : zone.toInstant(local);
        // A local time that summer time leaps over does not happen.
        if (instant !== undefined && instant > after) return instant;
      }
      return undefined;
    },
  };
}

function every(ms: number): CronSchedule {
  const step = Math.max(1000, Math.floor(ms / 1000) * 1000);
  return { next: (after) => Math.floor(after / 1000) * 1000 + step };
}

function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new Error(`failed to parse duration @every ${text}`);
  }
  return parts.reduce((sum, [, amount = '0', unit = 's']) => sum + Number(amount) * (DURATION_UNITS[unit] ?? 0), 0);
}

function parseField(text: string, least: number, most: number, names: readonly string[] = []): Field {
  const values = new Set<number>();
  let any = false;
  for (const part of text.split(',')) {
    const [range = '', step, ...more] = part.split('/');
    const [first = '', last, ...rest] = range.split('-');
    const isAny = first === '*' || first === '?';
    if (more.length > 0 || rest.length > 0 || (isAny && last !== undefined)) throw new Error(`cannot read ${part}`);
    const from = isAny ? least : numberOf(first, names, least);
    const to =
      isAny || (step !== undefined && last === undefined)
        ? most
        : last === undefined
          ? from
          : numberOf(last, names, least);
    const by = step === undefined ? 1 : numberOf(step, [], 0);
    if (from < least || to > most || from > to || by === 0)
      throw new Error(`${part} is not within ${least} to ${most}`);
    for (let value = from; value <= to; value += by) values.add(value);
    if (isAny && by === 1) any = true;
  }
  return { values, any };
}

function numberOf(text: string, names: readonly string[], least: number): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  if (!/^\d+$/.test(text)) throw new Error(`failed to parse ${JSON.stringify(text)} as a number`);
  return Number(text);
}

interface Fields {
  minutes: Field;
  hours: Field;
  days: Field;
  months: Field;
  weekdays: Field;
}

/** The first whole minute after `local` that matches, as if local time were UTC; leaps over what cannot match. */
function nextLocal({ minutes, hours, days, months, weekdays }: Fields, local: number, end: number): number {
  const isDay = (time: Date): boolean => {
    const day = days.values.has(time.getUTCDate());
    const weekday = weekdays.values.has(time.getUTCDay());
    return days.any || weekdays.any ? day && weekday : day || weekday;
  };
  const time = new Date((Math.floor(local / 60_000) + 1) * 60_000);
  while (time.getTime() <= end) {
    if (!months.values.has(time.getUTCMonth() + 1)) time.setUTCMonth(time.getUTCMonth() + 1, 1);
    else if (!isDay(time)) time.setUTCDate(time.getUTCDate() + 1);
    else if (!hours.values.has(time.getUTCHours())) {
      time.setUTCHours(time.getUTCHours() + 1, 0);
      continue;
    } else if (!minutes.values.has(time.getUTCMinutes())) {
      time.setUTCMinutes(time.getUTCMinutes() + 1);
      continue;
    } else return time.getTime();
    time.setUTCHours(0, 0);
  }
  return Number.POSITIVE_INFINITY;
}

interface Zone {
  toLocal(instant: number): number;
  /** The first instant of that local time; undefined where there is none. */
  toInstant(local: number): number | undefined;
}

function zoneOf(timeZone: string): Zone {
  if (timeZone === 'UTC') return { toLocal: (instant) => instant, toInstant: (local) => local };
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
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
      // The offsets of the day before and after are all that there can be.
      const guesses = [local - DAY_MS, local + DAY_MS].map((near) => local - (toLocal(near) - near));
      return guesses.sort((a, b) => a - b).find((guess) => toLocal(guess) === local);
    },
  };
}
