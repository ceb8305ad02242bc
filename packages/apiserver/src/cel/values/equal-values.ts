import type { Meter } from '../evaluate/meter.ts';
import {
  CelDuration,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  fail,
  isList,
  type Value,
} from './value.ts';

type Numeric = bigint | number;

/** The number that a value is, or undefined. */
export function numberOf(value: Value): Numeric | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** Whether two values are equal. Numbers of all types are compared by their value, NaN equals nothing. */
export function equalValues(a: Value, b: Value, meter: Meter): boolean {
  meter.work(1);
  if (typeof a === 'string') {
    if (a.length > 64 && typeof b === 'string' && a.length === b.length) meter.work(a.length / 100);
    return a === b;
  }
  const number = numberOf(a);
  if (number !== undefined) {
    const other = numberOf(b);
    // oxlint-disable-next-line eqeqeq -- a bigint and a number can be equal
    return other !== undefined && number == other;
  }
  if (isList(a)) {
    return isList(b) && a.length === b.length && a.every((each, index) => equalValues(each, b[index]!, meter));
  }
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, meter);
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof CelOpaque) return b instanceof CelOpaque && a.equals(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equalValues(a.value, b.value, meter);
  }
  return a === b;
}

function equalMaps(a: CelMap, b: CelMap, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const other = b.get(key);
    if (other === undefined || !equalValues(a.get(key)!, other, meter)) return false;
  }
  return true;
}

/** Below 0 if `a` is before `b`; NaN if neither is before the other. Fails for values without an order. */
export function compareValues(a: Value, b: Value, meter: Meter): number {
  const [first, second] = [numberOf(a), numberOf(b)];
  if (first !== undefined && second !== undefined)
    return first < second ? -1 : first > second ? 1 : first === first && second === second ? 0 : Number.NaN;
  if (typeof a === 'string' && typeof b === 'string') {
    meter.work(Math.min(a.length, b.length) / 10);
    return compareTexts(a, b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof CelDuration && b instanceof CelDuration) return compareBig(a.nanos, b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return compareBig(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  return fail('no such overload');
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** By code points: surrogates come after all other characters. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (x === y) continue;
    const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
    if (isSurrogate(x) !== isSurrogate(y)) return isSurrogate(x) ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
