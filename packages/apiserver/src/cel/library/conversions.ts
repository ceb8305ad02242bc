import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  typeOf,
  typeParam,
  UINT,
} from '../typing/cel-type.ts';
import { nameOfType } from '../evaluate/dispatch.ts';
import type { FunctionLibrary, Run } from '../typing/overload.ts';
import { formatDouble } from '../values/format-double.ts';
import { checkInt, checkTimestamp, checkUint } from '../values/in-range.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../values/parse-time.ts';
import {
  type CelDuration,
  type CelMap,
  type CelTimestamp,
  CelTypeValue,
  type CelUint,
  fail,
  type Value,
} from '../values/value.ts';
import type { Meter } from '../evaluate/meter.ts';

const A = typeParam('A');
const B = typeParam('B');
const SECOND = 1_000_000_000n;
const MAX_NUMBER_TEXT = 400;
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** CEL's conversions, `size`, `type` and `dyn`. */
export function defineConversions(library: FunctionLibrary): void {
  const convert = (name: string, result: CelType, from: CelType, run: Run): void =>
    library.define(name, `${from.kind}_to_${name}`, [from], result, run);
  const same: Run = ([value]: readonly Value[]) => value!;
  convert('int', INT, INT, same);
  convert('int', INT, UINT, ([value]: readonly CelUint[]) => checkInt(value!.value));
  convert('int', INT, DOUBLE, ([value]: readonly number[]) => checkInt(truncated(value!, 'integer overflow')));
  convert('int', INT, STRING, ([text]: readonly string[]) => checkRange(parseInteger(text!, 'int', true), 'int'));
  convert('int', INT, TIMESTAMP, ([time]: readonly CelTimestamp[]) => floorSeconds(time!.nanos));
  convert('int', INT, DURATION, ([duration]: readonly CelDuration[]) => duration!.nanos);
  convert('uint', UINT, UINT, same);
  convert('uint', UINT, INT, ([value]: readonly bigint[]) => checkUint(value!));
  convert('uint', UINT, DOUBLE, ([value]: readonly number[]) =>
    value! < 0 ? fail('unsigned integer overflow') : checkUint(truncated(value!, 'unsigned integer overflow')),
  );
  convert('uint', UINT, STRING, ([text]: readonly string[]) => {
    const value = parseInteger(text!, 'uint', false);
    return value < 2n ** 64n ? checkUint(value) : conversionFault('uint');
  });
  convert('double', DOUBLE, DOUBLE, same);
  convert('double', DOUBLE, INT, ([value]: readonly bigint[]) => Number(value));
  convert('double', DOUBLE, UINT, ([value]: readonly CelUint[]) => Number(value!.value));
  convert('double', DOUBLE, STRING, ([text]: readonly string[]) => parseDouble(text!));
  convert('bool', BOOL, BOOL, same);
  convert('bool', BOOL, STRING, ([text]: readonly string[]) =>
    TRUE.has(text!) ? true : FALSE.has(text!) ? false : conversionFault('bool'),
  );
  convert('bytes', BYTES, BYTES, same);
  convert('bytes', BYTES, STRING, ([text]: readonly string[], meter) => {
    meter.work(text!.length / 10);
    return Buffer.from(text!);
  });
  convert('timestamp', TIMESTAMP, TIMESTAMP, same);
  convert('timestamp', TIMESTAMP, INT, ([seconds]: readonly bigint[]) => checkTimestamp(seconds! * SECOND));
  convert(
    'timestamp',
    TIMESTAMP,
    STRING,
    ([text]: readonly string[]) => parseTimestamp(text!) ?? conversionFault('google.protobuf.Timestamp'),
  );
  convert('duration', DURATION, DURATION, same);
  convert(
    'duration',
    DURATION,
    STRING,
    ([text]: readonly string[]) => parseDuration(text!) ?? conversionFault('google.protobuf.Duration'),
  );
  library.define('dyn', 'to_dyn', [A], DYN, same);
  library.define('type', 'type', [A], typeOf(A), ([value]: readonly Value[]) => new CelTypeValue(nameOfType(value!)));
  defineTexts(convert, same);
  defineSize(library);
}

function defineTexts(convert: (name: string, result: CelType, from: CelType, run: Run) => void, same: Run): void {
  convert('string', STRING, STRING, same);
  convert('string', STRING, INT, ([value]: readonly bigint[]) => String(value));
  convert('string', STRING, UINT, ([value]: readonly CelUint[]) => String(value!.value));
  convert('string', STRING, DOUBLE, ([value]: readonly number[]) => formatDouble(value!));
  convert('string', STRING, BOOL, ([value]: readonly boolean[]) => String(value));
  convert('string', STRING, TIMESTAMP, ([value]: readonly CelTimestamp[]) => formatTimestamp(value!));
  convert('string', STRING, DURATION, ([value]: readonly CelDuration[]) => formatDuration(value!));
  convert('string', STRING, BYTES, ([value]: readonly Uint8Array[], meter) => decodeUtf8(value!, meter));
}

function decodeUtf8(bytes: Uint8Array, meter: Meter): string {
  meter.work(bytes.length / 10);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function defineSize(library: FunctionLibrary): void {
  const sized: [id: string, type: CelType, size: Run][] = [
    ['string', STRING, ([text]: readonly string[], meter) => BigInt(meter.textSize(text!))],
    ['bytes', BYTES, ([bytes]: readonly Uint8Array[]) => BigInt(bytes!.length)],
    ['list', listOf(A), ([list]: readonly (readonly Value[])[]) => BigInt(list!.length)],
    ['map', mapOf(A, B), ([map]: readonly CelMap[]) => BigInt(map!.size)],
  ];
  for (const [id, type, size] of sized) {
    library.define('size', `size_${id}`, [type], INT, size);
    library.method('size', `${id}_size`, [type], INT, size);
  }
}

function conversionFault(to: string): never {
  return fail(`type conversion error from 'string' to '${to}'`);
}

function truncated(value: number, overflow: string): bigint {
  if (!Number.isFinite(value)) fail(overflow);
  // The largest integers have no double of their own: what rounds to them is beyond them.
  if (value >= 2 ** 64 || (overflow === 'integer overflow' && (value >= 2 ** 63 || value <= -(2 ** 63))))
    fail(overflow);
  return BigInt(Math.trunc(value));
}

function parseInteger(text: string, to: string, signed: boolean): bigint {
  const isInteger = text.length <= MAX_NUMBER_TEXT && (signed ? /^[+-]?[0-9]+$/ : /^[0-9]+$/).test(text);
  return isInteger ? BigInt(text.replace('+', '')) : conversionFault(to);
}

function checkRange(value: bigint, to: string): bigint {
  return value < 2n ** 63n && value >= -(2n ** 63n) ? value : conversionFault(to);
}

function parseDouble(text: string): number {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special) return special[2] === undefined ? Number.NaN : special[1] === '-' ? -Infinity : Infinity;
  if (text.length > MAX_NUMBER_TEXT || !/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text))
    conversionFault('double');
  const value = Number(text);
  return Number.isFinite(value) ? value : conversionFault('double');
}

function floorSeconds(nanos: bigint): bigint {
  return nanos / SECOND - (nanos % SECOND < 0n ? 1n : 0n);
}
