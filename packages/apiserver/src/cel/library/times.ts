import { DURATION, INT, STRING, TIMESTAMP } from '../typing/cel-type.ts';
import type { Meter } from '../evaluate/meter.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { dateOf } from '../values/parse-time.ts';
import { type CelDuration, CelTimestamp, fail } from '../values/value.ts';

const MINUTE = 60_000_000_000n;
/** Of a date in a time zone, and of a time zone that has not been used before. */
const FORMAT_WORK = 100;
const ZONE_WORK = 5_000;
const MAX_ZONES = 100;
const DAY_MS = 86_400_000;

/** Time zones that have been used. */
type Zones = Map<string, Intl.DateTimeFormat>;

/** By name: a part of a timestamp. */
const PARTS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => dayOfYear(date),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** By name: the whole of a duration in a unit of so many nanoseconds. */
const UNITS: Readonly<Record<string, bigint>> = {
  getHours: 60n * MINUTE,
  getMinutes: MINUTE,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

/** CEL's accessors of timestamps and durations. */
export function defineTimes(library: FunctionLibrary): void {
  const zones = new Map<string, Intl.DateTimeFormat>();
  for (const [name, part] of Object.entries(PARTS)) {
    library.method(name, `timestamp_${name}`, [TIMESTAMP], INT, ([time]: readonly [CelTimestamp]) =>
      BigInt(part(dateOf(time))),
    );
    library.method(
      name,
      `timestamp_${name}_zone`,
      [TIMESTAMP, STRING],
      INT,
      ([time, zone]: readonly [CelTimestamp, string], meter) => BigInt(part(inZone(time, zone, zones, meter))),
    );
  }
  for (const [name, unit] of Object.entries(UNITS)) {
    library.method(
      name,
      `duration_${name}`,
      [DURATION],
      INT,
      ([duration]: readonly [CelDuration]) => duration.nanos / unit,
    );
  }
}

/** A date whose parts in UTC are those of the time in the zone. */
function inZone(time: CelTimestamp, zone: string, zones: Zones, meter: Meter): Date {
  const offset = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (offset) {
    const minutes = BigInt(Number(offset[2]) * 60 + Number(offset[3]));
    return dateOf(new CelTimestamp(time.nanos + (offset[1] === '-' ? -minutes : minutes) * MINUTE));
  }
  const date = dateOf(time);
  const parts = new Map(
    zoneFormat(zone, zones, meter)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const local = new Date(0);
  local.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'), date.getUTCMilliseconds());
  return local;
}

function zoneFormat(zone: string, zones: Zones, meter: Meter): Intl.DateTimeFormat {
  meter.work(FORMAT_WORK);
  const known = zones.get(zone);
  if (known) return known;
  meter.work(ZONE_WORK);
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  try {
    const timeZone = zone === '' ? 'UTC' : zone;
    const format = new Intl.DateTimeFormat('en-US', { ...numeric, second: 'numeric', hourCycle: 'h23', timeZone });
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(zone, format);
    return format;
  } catch {
    return fail(`unknown time zone ${zone}`);
  }
}

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start.getTime()) / DAY_MS);
}
