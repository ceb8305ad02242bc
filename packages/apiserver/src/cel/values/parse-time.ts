import { CelDuration, CelTimestamp } from './value.ts';
import { checkDuration, checkTimestamp } from './in-range.ts';

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,40}))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: MILLISECOND,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};
const MAX_DURATION_TEXT = 200;

/** A timestamp of RFC 3339, or undefined. Fails for years that no timestamp has. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const found = TIMESTAMP.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = (Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0)) * (found[8] === '-' ? -1 : 1);
  const seconds = date.getTime() / 1000 + (hour * 60 + minute - offset) * 60 + second;
  const nanos = BigInt((found[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return new CelTimestamp(checkTimestamp(BigInt(seconds) * SECOND + nanos).nanos, offset);
}

export function formatTimestamp({ nanos, offset }: CelTimestamp): string {
  const fraction = ((nanos % SECOND) + SECOND) % SECOND;
  const date = dateOf(new CelTimestamp(nanos + BigInt(offset) * 60n * SECOND));
  const [seconds] = date.toISOString().split('.') as [string];
  const digits = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0')}`;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return `${seconds}${digits.slice(0, end)}${formatOffset(offset)}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const part = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${part(size / 60)}:${part(size % 60)}`;
}

/** To the millisecond below. */
export function dateOf({ nanos }: CelTimestamp): Date {
  const floor = nanos / MILLISECOND - (nanos % MILLISECOND < 0n ? 1n : 0n);
  return new Date(Number(floor));
}

/** A duration as Go reads it: `1h30m`, `-1.5s`; or undefined. */
export function parseDuration(text: string): CelDuration | undefined {
  if (text.length > MAX_DURATION_TEXT) return undefined;
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const parts = text.slice(sign.length);
  if (parts === '0') return new CelDuration(0n);
  const pattern = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
  let nanos = 0n;
  let at = 0;
  while (at < parts.length) {
    pattern.lastIndex = at;
    const [part, whole = '', fraction = '', unit = ''] = pattern.exec(parts) ?? [];
    if (part === undefined || whole + fraction === '') return undefined;
    const size = UNITS[unit]!;
    nanos += BigInt(whole || 0) * size + (BigInt(fraction || 0) * size) / 10n ** BigInt(fraction.length);
    at += part.length;
  }
  if (parts === '') return undefined;
  return new CelDuration(checkDuration(sign === '-' ? -nanos : nanos));
}

/** In seconds: `-1.5s`. */
export function formatDuration({ nanos }: CelDuration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = size % SECOND;
  const digits = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0')}`;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return `${nanos < 0n ? '-' : ''}${size / SECOND}${digits.slice(0, end)}s`;
}
