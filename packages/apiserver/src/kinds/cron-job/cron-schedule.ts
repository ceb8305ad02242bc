import { isGoDuration } from '@asterism/machinery';

/** The least and greatest value of a field of a schedule, and the names that stand for values. */
interface Bounds {
  min: number;
  max: number;
  names: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** What is wrong with the schedule of a CronJob, in the words of robfig/cron; undefined where nothing is. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string';
  const zone = /^(?:TZ|CRON_TZ)=(\S*) ?(.*)/s.exec(schedule);
  const text = zone ? (zone[2] ?? '').trim() : schedule;
  if (zone && !isTimeZone(zone[1] ?? '')) return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`;
  if (text.startsWith('@')) return descriptorFault(text);
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  for (const [index, field] of fields.entries()) {
    const bounds = FIELDS[index];
    // Parts between commas that are empty are no parts.
    for (const part of field.split(',')) {
      const fault = bounds && part !== '' ? rangeFault(part, bounds) : undefined;
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function descriptorFault(text: string): string | undefined {
  if (DESCRIPTORS.includes(text)) return undefined;
  const [, interval] = /^@every (.*)$/.exec(text) ?? [];
  if (interval === undefined) return `unrecognized descriptor: ${text}`;
  if (isGoDuration(interval)) return undefined;
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(interval)}`;
}

/** One of `*`, `5`, `1-5`, each perhaps with a step: `1-5/2`. */
function rangeFault(text: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = text.split('/');
  const [low = '', high, ...moreEnds] = range.split('-');
  let start = bounds.min;
  let end = bounds.max;
  if (low !== '*' && low !== '?') {
    const first = readValue(low, bounds);
    if (typeof first === 'string') return first;
    start = first;
    if (moreEnds.length > 0) return `too many hyphens: ${text}`;
    const last = high === undefined ? first : readValue(high, bounds);
    if (typeof last === 'string') return last;
    // `5/10` goes on to the end.
    end = high === undefined && step !== undefined ? bounds.max : last;
  }
  let every = 1;
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  if (step !== undefined) {
    const value = readNumber(step);
    if (typeof value === 'string') return value;
    every = value;
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${text}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return every === 0 ? `step of range should be a positive number: ${text}` : undefined;
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

/** Whether the time zone database knows the name. */
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
