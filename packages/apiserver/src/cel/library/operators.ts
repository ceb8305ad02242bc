import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
} from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { compareValues, equalValues } from '../values/equal-values.ts';
import { checkDuration, checkInt, checkTimestamp, checkUint } from '../values/in-range.ts';
import { CelDuration, type CelMap, type CelTimestamp, CelUint, fail, type Value } from '../values/value.ts';
import type { Meter } from '../evaluate/meter.ts';

const A = typeParam('A');
const B = typeParam('B');

/** CEL's operators. https://github.com/google/cel-spec/blob/master/doc/langdef.md */
export function defineOperators(library: FunctionLibrary): void {
  const { define } = bound(library);
  // The evaluator knows these by their names.
  const lazily = (): Value => fail('no such overload');
  define('_?_:_', 'conditional', [BOOL, A, A], A, lazily);
  define('_&&_', 'logical_and', [BOOL, BOOL], BOOL, lazily);
  define('_||_', 'logical_or', [BOOL, BOOL], BOOL, lazily);
  define('@not_strictly_false', 'not_strictly_false', [BOOL], BOOL, lazily);
  define('_[_]', 'index_list', [listOf(A), INT], A, lazily);
  define('_[_]', 'index_map', [mapOf(A, B), A], B, lazily);
  define('!_', 'logical_not', [BOOL], BOOL, ([value]: readonly boolean[]) => !value);
  define('_==_', 'equals', [A, A], BOOL, ([a, b]: readonly Value[], meter) => equalValues(a!, b!, meter));
  define('_!=_', 'not_equals', [A, A], BOOL, ([a, b]: readonly Value[], meter) => !equalValues(a!, b!, meter));
  define('@in', 'in_list', [A, listOf(A)], BOOL, ([value, list]: readonly [Value, readonly Value[]], meter) =>
    list.some((each) => equalValues(each, value, meter)),
  );
  define('@in', 'in_map', [A, mapOf(A, B)], BOOL, ([key, map]: readonly [Value, CelMap]) => map.get(key) !== undefined);
  defineComparisons(library);
  defineArithmetic(library);
  defineTimeArithmetic(library);
  defineConcatenation(library);
}

function bound(library: FunctionLibrary): Pick<FunctionLibrary, 'define' | 'method'> {
  return { define: library.define.bind(library), method: library.method.bind(library) };
}

const COMPARISONS: readonly [name: string, id: string, isTrue: (order: number) => boolean][] = [
  ['_<_', 'less', (order) => order < 0],
  ['_<=_', 'less_equals', (order) => order <= 0],
  ['_>_', 'greater', (order) => order > 0],
  ['_>=_', 'greater_equals', (order) => order >= 0],
];
const COMPARED: readonly [name: string, type: CelType][] = [
  ['bool', BOOL],
  ['int64', INT],
  ['uint64', UINT],
  ['double', DOUBLE],
  ['string', STRING],
  ['bytes', BYTES],
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
];
const NUMBERS = COMPARED.slice(1, 4);

function defineComparisons(library: FunctionLibrary): void {
  for (const [name, id, isTrue] of COMPARISONS) {
    const compare = ([a, b]: readonly Value[], meter: Meter): boolean => isTrue(compareValues(a!, b!, meter));
    for (const [suffix, type] of COMPARED) library.define(name, `${id}_${suffix}`, [type, type], BOOL, compare);
    for (const [left, leftType] of NUMBERS) {
      for (const [right, rightType] of NUMBERS) {
        if (left === right) continue;
        library.define(name, `${id}_${left}_${right}`, [leftType, rightType], BOOL, compare);
      }
    }
  }
}

function defineArithmetic(library: FunctionLibrary): void {
  const integers = (name: string, id: string, run: (a: bigint, b: bigint) => bigint): void => {
    library.define(name, `${id}_int64`, [INT, INT], INT, ([a, b]: readonly bigint[]) => checkInt(run(a!, b!)));
    library.define(name, `${id}_uint64`, [UINT, UINT], UINT, ([a, b]: readonly CelUint[]) =>
      checkUint(run(a!.value, b!.value)),
    );
  };
  const doubles = (name: string, id: string, run: (a: number, b: number) => number): void =>
    library.define(name, `${id}_double`, [DOUBLE, DOUBLE], DOUBLE, ([a, b]: readonly number[]) => run(a!, b!));
  integers('_+_', 'add', (a, b) => a + b);
  integers('_-_', 'subtract', (a, b) => a - b);
  integers('_*_', 'multiply', (a, b) => a * b);
  integers('_/_', 'divide', (a, b) => (b === 0n ? fail('division by zero') : a / b));
  integers('_%_', 'modulo', (a, b) => (b === 0n ? fail('modulus by zero') : a % b));
  doubles('_+_', 'add', (a, b) => a + b);
  doubles('_-_', 'subtract', (a, b) => a - b);
  doubles('_*_', 'multiply', (a, b) => a * b);
  doubles('_/_', 'divide', (a, b) => a / b);
  library.define('-_', 'negate_int64', [INT], INT, ([a]: readonly bigint[]) => checkInt(-a!));
  library.define('-_', 'negate_double', [DOUBLE], DOUBLE, ([a]: readonly number[]) => -a!);
}

function defineTimeArithmetic(library: FunctionLibrary): void {
  const duration = (nanos: bigint): CelDuration => new CelDuration(checkDuration(nanos));
  type Times = readonly (CelTimestamp | CelDuration)[];
  const later = ([a, b]: Times): Value => checkTimestamp(a!.nanos + b!.nanos);
  library.define('_+_', 'add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, later);
  library.define('_+_', 'add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP, later);
  library.define('_+_', 'add_duration_duration', [DURATION, DURATION], DURATION, ([a, b]: Times) =>
    duration(a!.nanos + b!.nanos),
  );
  library.define('_-_', 'subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, ([a, b]: Times) =>
    checkTimestamp(a!.nanos - b!.nanos),
  );
  const difference = ([a, b]: Times): Value => duration(a!.nanos - b!.nanos);
  library.define('_-_', 'subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION, difference);
  library.define('_-_', 'subtract_duration_duration', [DURATION, DURATION], DURATION, difference);
}

function defineConcatenation(library: FunctionLibrary): void {
  library.define('_+_', 'add_string', [STRING, STRING], STRING, ([a, b]: readonly string[], meter) => {
    meter.work((a!.length + b!.length) / 10);
    return a! + b!;
  });
  library.define('_+_', 'add_bytes', [BYTES, BYTES], BYTES, ([a, b]: readonly Uint8Array[], meter) => {
    meter.work((a!.length + b!.length) / 10);
    const both = new Uint8Array(a!.length + b!.length);
    both.set(a!);
    both.set(b!, a!.length);
    return both;
  });
  library.define(
    '_+_',
    'add_list',
    [listOf(A), listOf(A)],
    listOf(A),
    ([a, b]: readonly (readonly Value[])[], meter) => {
      // Also for its memory.
      meter.work((a!.length + b!.length) * 4);
      return [...a!, ...b!];
    },
  );
}
