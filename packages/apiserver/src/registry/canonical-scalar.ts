import { formatQuantity, parseQuantity } from '@asterism/machinery';
import { timeFault } from './time-fault.ts';

type Fail = (why: string) => Error;

/** A quantity as Go writes it: `0.5` is `500m`. Rejects what is none in the words of its decoder. */
export function canonicalQuantity(value: unknown, fail: Fail): string {
  const given = typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
  const text = given.trim();
  try {
    return formatQuantity(parseQuantity(text));
  } catch {
    throw fail(
      /^[+-]?[0-9.]+[eEinumkKMGTP]+[-+]?[0-9]*$/.test(text)
        ? "unable to parse quantity's suffix"
        : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
}

/** Times, found to be such, that are canonical already. */
const TIME = /^.{19}Z$/;
const MICRO_TIME = /^.{19}\..{6}Z$/;

/** A time in UTC and whole seconds, or microseconds. Rejects what is none in the words of Go's `time.Parse`. */
export function canonicalTime(value: string, micro: boolean, fail: Fail): string {
  const fault = timeFault(value, micro);
  if (fault !== undefined) throw fail(fault);
  if ((micro ? MICRO_TIME : TIME).test(value)) return value;
  const seconds = new Date(Date.parse(value)).toISOString().slice(0, 19);
  if (!micro) return `${seconds}Z`;
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? '';
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

/** Base64 without line breaks. Rejects what is none in the words of Go's decoder. */
export function canonicalBase64(value: string, fail: Fail): string {
  const text = value.replaceAll(/[\r\n]/g, '');
  const fault = base64Fault(text);
  if (fault !== undefined) throw fail(`illegal base64 data at input byte ${fault}`);
  return Buffer.from(text, 'base64').toString('base64');
}

/** Where Go finds the fault of a base64 text; undefined where it has none. */
function base64Fault(text: string): number | undefined {
  const bad = text.search(/[^A-Za-z0-9+/=]/);
  const padding = text.indexOf('=');
  const end = padding < 0 ? text.length : padding;
  if (bad >= 0 && bad <= end) return bad;
  if (padding < 0) return text.length % 4 === 0 ? undefined : text.length - (text.length % 4);
  if (padding % 4 < 2) return padding;
  const expected = padding % 4 === 2 ? 2 : 1;
  if (expected === 2 && text.length === padding + 1) return text.length;
  if (expected === 2 && text[padding + 1] !== '=') return padding + 1;
  return text.length > padding + expected ? padding + expected : undefined;
}
