import { badRequest } from './status.ts';

/**
 * An amount of a resource, exact to a billionth: what `500m`, `1.5Gi` and `2e3` stand for. The format is that of the text it
 * came from and decides how it is written again.
 */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent';
}

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const UNIT = 1_000_000_000n;
const NANO_EXPONENT = -9;
/** Larger amounts are cut to the largest 64-bit integer, as Kubernetes does. */
const MAX_NANOS = (2n ** 63n - 1n) * UNIT;
/** More digits than these cannot change the result, but reading a million of them would take seconds. */
const MAX_DIGITS = 64;
/** A one with so many zeros is above the above whatever stands before it. */
const MAX_SHIFT = 30;

/** Ten to the power of the index. */
const POWERS: readonly bigint[] = Array.from({ length: MAX_SHIFT + 1 }, (_, exponent) => 10n ** BigInt(exponent));

const SYNTAX = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[+-]?|[+-])\d*)?$/;

/**
 * Parses a quantity as `k8s.io/apimachinery/pkg/api/resource` does; a JSON number is taken as its text. What is smaller than a
 * billionth is rounded away from zero.
 *
 * @throws StatusError 400 in Kubernetes' words.
 */
export function parseQuantity(text: string | number): Quantity {
  const quantity = readQuantity(text);
  if (typeof quantity === 'string') throw badRequest(quantity);
  return quantity;
}

/** A cluster uses the same few amounts again and again. Longer texts are not remembered, and all are forgotten when there are many. */
const remembered = new Map<string, Quantity>();
const MAX_REMEMBERED = { count: 1_000, length: 16 };

/** The quantity, or the fault in Kubernetes' words: an error costs more than the whole parsing, and a body may have thousands. */
function readQuantity(value: string | number): Quantity | string {
  const text = String(value);
  const known = remembered.get(text);
  if (known) return known;
  const quantity = readText(text);
  if (typeof quantity === 'string' || text.length > MAX_REMEMBERED.length) return quantity;
  if (remembered.size >= MAX_REMEMBERED.count) remembered.clear();
  remembered.set(text, quantity);
  return quantity;
}

function readText(text: string): Quantity | string {
  const found = SYNTAX.exec(text);
  if (!found || text === '') {
    return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }
  const [, sign = '', whole = '', fraction = '', suffix = ''] = found;
  if (whole + fraction === '') return 'unable to parse numeric part of quantity';
  const unit = readSuffix(suffix);
  if (unit === undefined) return "unable to parse quantity's suffix";
  const { multiplier, exponent, format } = unit;
  const { mantissa, dropped } = readDigits(whole + fraction);
  const magnitude = shiftDecimal(mantissa * multiplier, exponent - fraction.length + dropped - NANO_EXPONENT);
  const nanos = magnitude > MAX_NANOS ? MAX_NANOS : magnitude;
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

/** Whether {@link parseQuantity} takes the value. */
export function isQuantity(value: unknown): value is string | number {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return typeof readQuantity(value) !== 'string';
}

/**
 * The canonical text: no fraction, the largest suffix that allows this, so `1536Mi` for `1.5Gi` and `500m` for `0.5`. Binary
 * amounts below 1024 and fractions are written in decimal.
 */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  if (format === 'BinarySI' && nanos % UNIT === 0n && magnitudeOf(nanos) >= 1024n * UNIT) {
    const { value, steps } = divideOut(nanos / UNIT, 1024n, BINARY_SUFFIXES.length - 1);
    return `${value}${BINARY_SUFFIXES[steps]}`;
  }
  const { value, steps } = divideOut(nanos, 1000n, DECIMAL_SUFFIXES.length - 1);
  const exponent = NANO_EXPONENT + 3 * steps;
  return format === 'DecimalExponent' ? `${value}e${exponent}` : `${value}${DECIMAL_SUFFIXES[steps]}`;
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, in the format of `a` unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** `a` less `b`, in the format of `a` unless that is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The nearest JavaScript number, in whole units: bytes, cores. */
export function quantityToNumber({ nanos }: Quantity): number {
  return nanos % UNIT === 0n ? Number(nanos / UNIT) : Number(nanos) / Number(UNIT);
}

/** Thousandths, rounded away from zero: millicores. */
export function milliValue({ nanos }: Quantity): number {
  return Number(divideAwayFromZero(nanos, 1_000_000n));
}

/** The first digits as a number, one more where those that are dropped are not all zero, since all is rounded up. */
function readDigits(digits: string): { mantissa: bigint; dropped: number } {
  if (digits.length <= MAX_DIGITS) return { mantissa: BigInt(digits), dropped: 0 };
  const significant = digits.replace(/^0+/, '');
  const rest = significant.slice(MAX_DIGITS);
  const first = BigInt(significant.slice(0, MAX_DIGITS));
  return { mantissa: /[1-9]/.test(rest) ? first + 1n : first, dropped: rest.length };
}

function readSuffix(suffix: string): { multiplier: bigint; exponent: number; format: Quantity['format'] } | undefined {
  const binary = suffix === '' ? -1 : BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { multiplier: 1024n ** BigInt(binary), exponent: 0, format: 'BinarySI' };
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  if (decimal >= 0) return { multiplier: 1n, exponent: NANO_EXPONENT + 3 * decimal, format: 'DecimalSI' };
  const scientific = /^[eE]([+-]?\d+)$/.exec(suffix);
  if (!scientific) return undefined;
  return { multiplier: 1n, exponent: Number(scientific[1]), format: 'DecimalExponent' };
}

/** `mantissa` times ten to the `shift`, rounded up. An absurd shift costs nothing. */
function shiftDecimal(mantissa: bigint, shift: number): bigint {
  if (mantissa === 0n) return 0n;
  if (shift > MAX_SHIFT) return MAX_NANOS;
  if (shift >= 0) return mantissa * (POWERS[shift] ?? 1n);
  if (-shift > mantissa.toString().length) return 1n;
  return divideAwayFromZero(mantissa, 10n ** BigInt(-shift));
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (dividend % divisor === 0n) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function divideOut(value: bigint, factor: bigint, most: number): { value: bigint; steps: number } {
  let steps = 0;
  let rest = value;
  while (steps < most && rest % factor === 0n) {
    rest /= factor;
    steps += 1;
  }
  return { value: rest, steps };
}

function magnitudeOf(value: bigint): bigint {
  return value < 0n ? -value : value;
}
