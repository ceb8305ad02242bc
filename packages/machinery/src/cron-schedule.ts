import { isGoDuration, parseGoDuration } from './go-duration.ts';
import { isTimeZone, timeZoneOf } from './time-zone.ts';

/** When something recurs. */
export interface CronSchedule {
  /** The first time after `after`, both in ms; undefined if there is none in the next five years. */
  next(after: number): number | undefined;
}

/** The limits of a field, and names for its values: the index of a name is its value. */
interface Bounds {
  least: number;
  most: number;
  names: readonly string[];
}

interface Field {
  values: ReadonlySet<number>;
  /** It begins with `*` or `?`: it restricts nothing. */
  any: boolean;
}

/** Minute, hour, day of the month, month, day of the week. */
type Fields = readonly Field[];

/** Fields to match, or a period in nanoseconds. */
interface WrittenSchedule {
  zone: string | undefined;
  times: Fields | number;
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const BOUNDS: readonly Bounds[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const FIVE_YEARS_MS = 5 * 366 * 86_400_000;

/** What is wrong with the schedule of a CronJob, in the words of robfig/cron; undefined for a valid one. */
export function cronScheduleFault(text: string): string | undefined {
  const written = readSchedule(text);
  return typeof written === 'string' ? written : undefined;
}

/**
 * Parses the five fields of a CronJob's schedule, `@hourly` and the other descriptors, and `@every 1h30m`, as robfig/cron does. If the
 * day of the month and the day of the week are both restricted, one of them has to match.
 *
 * @param timeZone an IANA name, for a schedule without `CRON_TZ=`.
 * @throws Error with what {@link cronScheduleFault} says; RangeError for an unknown time zone.
 */
export function parseCronSchedule(text: string, timeZone = 'UTC'): CronSchedule {
  const written = readSchedule(text);
  if (typeof written === 'string') throw new Error(written);
  const { times } = written;
  if (typeof times === 'number') {
    const step = Math.max(1000, Math.floor(times / 1e9) * 1000);
    return { next: (after) => Math.floor(after / 1000) * 1000 + step };
  }
  const zone = timeZoneOf(written.zone ?? timeZone);
  return {
    next(after) {
      const end = after + FIVE_YEARS_MS;
      let local = zone.toLocal(after);
      while (local < end) {
        local = nextLocal(times, local, end);
        const instant = local === Number.POSITIVE_INFINITY ? undefined : zone.toInstant(local);
        if (instant !== undefined && instant > after) return instant;
      }
      return undefined;
    },
  };
}

/** @returns a text for a fault, here and below. */
function readSchedule(text: string): WrittenSchedule | string {
  if (text === '') return 'empty spec string';
  const prefix = /^(?:TZ|CRON_TZ)=(\S*) ?(.*)/s.exec(text);
  const zone = prefix?.[1];
  if (zone !== undefined && !isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
  const times = readTimes(prefix ? (prefix[2] ?? '').trim() : text);
  return typeof times === 'string' ? times : { zone, times };
}

function readTimes(text: string): Fields | number | string {
  if (!text.startsWith('@')) return readFields(text);
  const fields = DESCRIPTORS.get(text);
  if (fields !== undefined) return readFields(fields);
  const [, period] = /^@every (.*)$/.exec(text) ?? [];
  if (period === undefined) return `unrecognized descriptor: ${text}`;
  if (isGoDuration(period)) return parseGoDuration(period);
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(period)}`;
}

function readFields(text: string): Fields | string {
  const texts = text.split(/\s+/).filter((field) => field !== '');
  if (texts.length !== BOUNDS.length) return `expected exactly 5 fields, found ${texts.length}: [${texts.join(' ')}]`;
  const fields: Field[] = [];
  for (const [index, bounds] of BOUNDS.entries()) {
    const field = readField(texts[index] ?? '', bounds);
    if (typeof field === 'string') return field;
    fields.push(field);
  }
  return fields;
}

function readField(text: string, bounds: Bounds): Field | string {
  const values = new Set<number>();
  let any = false;
  // robfig/cron skips empty parts.
  for (const part of text.split(',').filter((each) => each !== '')) {
    const range = readRange(part, bounds);
    if (typeof range === 'string') return range;
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
    if (range.any) any = true;
  }
  return { values, any };
}

/** One of `*`, `5`, `1-5`, each with or without a step: `1-5/2`. */
function readRange(text: string, bounds: Bounds): { start: number; end: number; step: number; any: boolean } | string {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreEnds] = range.split('-');
  const isStar = low === '*' || low === '?';
  let start = bounds.least;
  let end = bounds.most;
  if (!isStar) {
    const first = readValue(low, bounds);
    if (typeof first === 'string') return first;
    start = first;
    if (moreEnds.length > 0) return `too many hyphens: ${text}`;
    const last = high === undefined ? first : readValue(high, bounds);
    if (typeof last === 'string') return last;
    // `5/10` ends at the limit.
    end = high === undefined && stepText !== undefined ? bounds.most : last;
  }
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  const step = stepText === undefined ? 1 : readNumber(stepText);
  if (typeof step === 'string') return step;
  if (start < bounds.least) return `beginning of range (${start}) below minimum (${bounds.least}): ${text}`;
  if (end > bounds.most) return `end of range (${end}) above maximum (${bounds.most}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  if (step === 0) return `step of range should be a positive number: ${text}`;
  return { start, end, step, any: isStar && step === 1 };
}

function readValue(text: string, { names }: Bounds): number | string {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase());
  return named >= 0 ? named : readNumber(text);
}

function readNumber(text: string): number | string {
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`;
  }
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** The first whole minute after `local` that matches, as if local time were UTC; it skips months, days and hours that cannot match. */
function nextLocal(fields: Fields, local: number, end: number): number {
  const [minutes, hours, days, months, weekdays] = fields as readonly [Field, Field, Field, Field, Field];
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
