import { listOf, STRING, DYN } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { nameOfType } from '../evaluate/dispatch.ts';
import { goExponent, formatDouble } from '../values/format-double.ts';
import { formatDuration, formatTimestamp } from '../values/parse-time.ts';
import {
  CelDuration,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  fail,
  isList,
  kindOf,
  type Value,
} from '../values/value.ts';

const MAX_PRECISION = 1000;

/** Text, or a clause: `%.2f` has the verb `f` and the precision 2. */
export type FormatPart = { text: string } | { verb: string; precision: number | undefined };

/** `'%d of %s'.format([1, 'x'])`. */
export function defineFormat(library: FunctionLibrary): void {
  library.method(
    'format',
    'string_format',
    [STRING, listOf(DYN)],
    STRING,
    ([text, args]: readonly [string, readonly Value[]], meter) => formatText(text, args, meter),
  );
}

function formatText(text: string, args: readonly Value[], meter: Meter): string {
  meter.work(text.length / 10);
  let next = 0;
  let result = '';
  for (const part of formatParts(text)) {
    if ('text' in part) {
      result += part.text;
      continue;
    }
    if (next >= args.length) fail(`index ${next} out of range`);
    const shown = formatClause(part.verb, part.precision, args[next]!, meter);
    meter.work(shown.length / 10 + 1);
    result += shown;
    next++;
  }
  return result;
}

/** Fails for a text that is no format. */
export function formatParts(text: string): FormatPart[] {
  const parts: FormatPart[] = [];
  let at = 0;
  while (at < text.length) {
    const percent = text.indexOf('%', at);
    if (percent < 0) break;
    if (percent > at) parts.push({ text: text.slice(at, percent) });
    const [precision, verbAt] = precisionAt(text, percent + 1);
    const verb = text[verbAt];
    if (verb === undefined) fail('unexpected end of string');
    if (verb === '%') parts.push({ text: '%' });
    else if (!'sdfeboxX'.includes(verb))
      fail(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    else parts.push({ verb, precision });
    at = verbAt + 1;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

function precisionAt(text: string, at: number): [precision: number | undefined, end: number] {
  if (text[at] !== '.') return [undefined, at];
  let end = at + 1;
  while (end < text.length && text[end]! >= '0' && text[end]! <= '9') end++;
  const prefix = 'could not parse formatting clause: error while parsing precision: ';
  if (end >= text.length) fail(`${prefix}could not find end of precision specifier`);
  const digits = text.slice(at + 1, end);
  if (digits === '')
    fail(`${prefix}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`);
  if (digits.length > 18) {
    fail(`${prefix}error while converting precision to integer: strconv.Atoi: parsing "${digits}": value out of range`);
  }
  if (Number(digits) > MAX_PRECISION)
    fail(`${prefix}precision ${digits} exceeds maximum allowed precision of ${MAX_PRECISION}`);
  return [Number(digits), end];
}

/** A name of a type as messages about formats have it. */
export type GivenType = string;

/** Why values of a type cannot be formatted by a verb. */
export function clauseFault(verb: string, given: GivenType): string | undefined {
  const prefix = 'error during formatting: ';
  const isInteger = given === 'int' || given === 'uint';
  switch (verb) {
    case 'd':
      return isInteger ? undefined : `${prefix}decimal clause can only be used on integers, was given ${given}`;
    case 'f':
      return given === 'double'
        ? undefined
        : `${prefix}fixed-point clause can only be used on doubles, was given ${given}`;
    case 'e':
      return given === 'double'
        ? undefined
        : `${prefix}scientific clause can only be used on doubles, was given ${given}`;
    case 'b':
      return isInteger || given === 'bool'
        ? undefined
        : `${prefix}only integers and bools can be formatted as binary, was given ${given}`;
    case 'o':
      return isInteger ? undefined : `${prefix}octal clause can only be used on integers, was given ${given}`;
    case 'x':
    case 'X':
      return isInteger || given === 'string' || given === 'bytes'
        ? undefined
        : `${prefix}only integers, byte buffers, and strings can be formatted as hex, was given ${given}`;
    default:
      return undefined;
  }
}

function formatClause(verb: string, precision: number | undefined, value: Value, meter: Meter): string {
  const fault = clauseFault(verb, nameOfType(value));
  if (fault !== undefined) fail(fault);
  switch (verb) {
    case 'd':
      return integerOf(value).toString();
    case 'f':
      return specialDouble(value as number) ?? (value as number).toFixed(Math.min(precision || 6, 100));
    case 'e':
      return specialDouble(value as number) ?? scientific(value as number, precision || 6);
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : integerOf(value).toString(2);
    case 'o':
      return integerOf(value).toString(8);
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      return formatValue(value, meter);
  }
}

function integerOf(value: Value): bigint {
  return value instanceof CelUint ? value.value : (value as bigint);
}

function hex(value: Value): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integerOf(value).toString(16);
}

function specialDouble(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? undefined : value > 0 ? '∞' : '-∞';
}

/** `1.500000×10⁰⁴`. */
function scientific(value: number, precision: number): string {
  const [digits, exponent] = value.toExponential(Math.min(precision, 100)).split('e') as [string, string];
  const raised = goExponent(Number(exponent))
    .replace('+', '')
    .replaceAll(/[-0-9]/g, (digit) => (digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!));
  return `${digits}×10${raised}`;
}

/** A value as `%s` shows it. */
function formatValue(value: Value, meter: Meter): string {
  meter.work(1);
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelUint) return value.value.toString();
  if (value instanceof CelTypeValue) return value.name;
  if (typeof value === 'number') return specialDouble(value) === undefined ? formatDouble(value) : nonFinite(value);
  if (isList(value)) return `[${value.map((each) => formatMember(each, meter)).join(', ')}]`;
  if (value instanceof CelMap) {
    const members = [...value.keys()].map(
      (key) => `${formatMember(key, meter)}:${formatMember(value.get(key)!, meter)}`,
    );
    return `{${members.sort().join(', ')}}`;
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return fail(`could not convert argument ${kindOf(value)} to string`);
}

function nonFinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function formatMember(value: Value, meter: Meter): string {
  const text = formatValue(value, meter);
  if (typeof value === 'string') return JSON.stringify(text);
  if (value instanceof Uint8Array) return `b${JSON.stringify(text)}`;
  if (value instanceof CelDuration) return `duration("${text}")`;
  return value instanceof CelTimestamp ? `timestamp("${text}")` : text;
}
