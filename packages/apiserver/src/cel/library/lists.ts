import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  typeParam,
  UINT,
  optionalOf,
} from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import type { Meter } from '../evaluate/meter.ts';
import { compareValues, equalValues } from '../values/equal-values.ts';
import { checkDuration, checkInt, checkUint } from '../values/in-range.ts';
import { CelDuration, CelOptional, CelUint, fail, isList, kindOf, type Value } from '../values/value.ts';

/** Of an element of a new list, for its memory. */
const COPY_WORK = 4;
const A = typeParam('A');
const LIST = listOf(A);
type List = readonly Value[];

/** Types with an order. */
const ORDERED: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

/** Kubernetes' functions for lists, CEL's extension for them, and sets. */
export function defineLists(library: FunctionLibrary): void {
  for (const type of ORDERED) {
    const id = (name: string): string => `list_${type.kind}_${name}`;
    library.method('isSorted', id('is_sorted_bool'), [listOf(type)], BOOL, ([list]: readonly [List], meter) =>
      list.every((each, index) => index === 0 || compareValues(list[index - 1]!, each, meter) <= 0),
    );
    library.method('min', id('min'), [listOf(type)], type, ([list]: readonly [List], meter) =>
      extreme('min', list, meter),
    );
    library.method('max', id('max'), [listOf(type)], type, ([list]: readonly [List], meter) =>
      extreme('max', list, meter),
    );
    library.method('sort', id('sort'), [listOf(type)], listOf(type), ([list]: readonly [List], meter) =>
      sortBy(list, list, meter),
    );
    library.method(
      '@sortByAssociatedKeys',
      id('sortByAssociatedKeys'),
      [LIST, listOf(type)],
      LIST,
      ([list, keys]: readonly [List, List], meter) => sortBy(list, keys, meter),
    );
  }
  for (const type of [INT, UINT, DOUBLE, DURATION]) {
    library.method('sum', `list_${type.kind}_sum`, [listOf(type)], type, ([list]: readonly [List], meter) => {
      meter.work(list.length);
      return sum(list, type);
    });
  }
  defineSearch(library);
  defineRearranging(library);
  defineSets(library);
}

function extreme(name: 'min' | 'max', list: List, meter: Meter): Value {
  const [first, ...others] = list;
  if (first === undefined) fail(`${name} called on empty list`);
  const sign = name === 'min' ? 1 : -1;
  return others.reduce((best, each) => (compareValues(each, best, meter) * sign < 0 ? each : best), first);
}

/** Elements of type `dyn` decide for themselves which sum it is, as long as they are alike. */
function sum(list: List, type: CelType): Value {
  const kind = list.length > 0 ? kindOf(list[0]!) : type.kind;
  if (list.some((each) => kindOf(each) !== kind)) fail('no such overload');
  if (kind === 'double') return list.reduce((total: number, each) => total + (each as number), 0);
  let total = 0n;
  for (const each of list) {
    if (each instanceof CelUint) total = checkUint(total + each.value).value;
    else if (each instanceof CelDuration) total = checkDuration(total + each.nanos);
    else if (typeof each === 'bigint') total = checkInt(total + each);
    else fail('no such overload');
  }
  return kind === 'uint' ? new CelUint(total) : kind === 'duration' ? new CelDuration(total) : total;
}

function defineSearch(library: FunctionLibrary): void {
  library.method('indexOf', 'list_a_index_of_int', [LIST, A], INT, ([list, value]: readonly [List, Value], meter) =>
    BigInt(list.findIndex((each) => equalValues(each, value, meter))),
  );
  library.method(
    'lastIndexOf',
    'list_a_last_index_of_int',
    [LIST, A],
    INT,
    ([list, value]: readonly [List, Value], meter) =>
      BigInt(list.findLastIndex((each) => equalValues(each, value, meter))),
  );
  const end =
    (at: 0 | -1) =>
    ([list]: readonly [List]): Value =>
      new CelOptional(list.at(at));
  library.method('first', 'list_first', [LIST], optionalOf(A), end(0));
  library.method('last', 'list_last', [LIST], optionalOf(A), end(-1));
}

function defineRearranging(library: FunctionLibrary): void {
  const method = library.method.bind(library);
  method(
    'slice',
    'list_slice',
    [LIST, INT, INT],
    LIST,
    ([list, start, stop]: readonly [List, bigint, bigint], meter) => {
      meter.work(list.length);
      if (start < 0n || stop < 0n) fail(`cannot slice(${start}, ${stop}), negative indexes not supported`);
      if (start > stop) fail(`cannot slice(${start}, ${stop}), start index must be less than or equal to end index`);
      if (stop > BigInt(list.length)) fail(`cannot slice(${start}, ${stop}), list is length ${list.length}`);
      return list.slice(Number(start), Number(stop));
    },
  );
  method('flatten', 'list_flatten', [listOf(LIST)], LIST, ([list]: readonly [List], meter) => flatten(list, 1n, meter));
  method(
    'flatten',
    'list_flatten_int',
    [listOf(DYN), INT],
    listOf(DYN),
    ([list, depth]: readonly [List, bigint], meter) =>
      depth < 0n ? fail('level must be non-negative') : flatten(list, depth, meter),
  );
  method('distinct', 'list_distinct', [LIST], LIST, ([list]: readonly [List], meter) => distinct(list, meter));
  method('reverse', 'list_reverse', [LIST], LIST, ([list]: readonly [List], meter) => {
    meter.work(list.length);
    return list.toReversed();
  });
  library.define('lists.range', 'lists_range', [INT], listOf(INT), ([count]: readonly [bigint], meter) => {
    meter.work(Number(count) * COPY_WORK);
    return Array.from({ length: Math.max(Number(count), 0) }, (_, index) => BigInt(index));
  });
}

function flatten(list: List, depth: bigint, meter: Meter): Value[] {
  const flat: Value[] = [];
  for (const each of list) {
    meter.work(COPY_WORK);
    if (!isList(each) || depth === 0n) flat.push(each);
    else for (const inner of flatten(each, depth - 1n, meter)) flat.push(inner);
  }
  return flat;
}

function distinct(list: List, meter: Meter): Value[] {
  const found: Value[] = [];
  for (const each of list) if (!found.some((other) => equalValues(other, each, meter))) found.push(each);
  return found;
}

function sortBy(list: List, keys: List, meter: Meter): Value[] {
  const [first] = keys;
  if (keys.some((key) => kindOf(key) !== kindOf(first!))) fail('list elements must have the same type');
  const order = Array.from(keys.keys()).sort((a, b) => compareValues(keys[a]!, keys[b]!, meter) || a - b);
  return order.map((index) => list[index]!);
}

function defineSets(library: FunctionLibrary): void {
  const containsAll = (list: List, part: List, meter: Meter): boolean =>
    part.every((each) => list.some((other) => equalValues(other, each, meter)));
  const define = (name: string, id: string, run: (a: List, b: List, meter: Meter) => boolean): void =>
    library.define(name, id, [LIST, LIST], BOOL, ([a, b]: readonly [List, List], meter) => run(a, b, meter));
  define('sets.contains', 'list_sets_contains_list', containsAll);
  define('sets.intersects', 'list_sets_intersects_list', (a, b, meter) =>
    a.some((each) => b.some((other) => equalValues(other, each, meter))),
  );
  define(
    'sets.equivalent',
    'list_sets_equivalent_list',
    (a, b, meter) => containsAll(a, b, meter) && containsAll(b, a, meter),
  );
}
