import { BOOL, INT, listOf, mapOf, optionalOf, typeParam } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { LiteralMap } from '../values/literal-map.ts';
import { CelDuration, CelMap, CelOptional, CelTimestamp, CelUint, fail, isList, type Value } from '../values/value.ts';

const A = typeParam('A');
const B = typeParam('B');
const OPTIONAL = optionalOf(A);

/** Optional values: `optional.of(x)`, `a.?b.orValue(c)`. */
export function defineOptionals(library: FunctionLibrary): void {
  const method = library.method.bind(library);
  library.define('optional.of', 'optional_of', [A], OPTIONAL, ([value]: readonly [Value]) => new CelOptional(value));
  library.define('optional.none', 'optional_none', [], OPTIONAL, () => CelOptional.none);
  library.define('optional.ofNonZeroValue', 'optional_ofNonZeroValue', [A], OPTIONAL, ([value]: readonly [Value]) =>
    isZero(value) ? CelOptional.none : new CelOptional(value),
  );
  method(
    'hasValue',
    'optional_hasValue',
    [OPTIONAL],
    BOOL,
    ([{ value }]: readonly [CelOptional]) => value !== undefined,
  );
  method('value', 'optional_value', [OPTIONAL], A, ([{ value }]: readonly [CelOptional]) =>
    value === undefined ? fail('optional.none() dereference') : value,
  );
  // The evaluator knows these by their names: their arguments are not always evaluated.
  const lazily = (): Value => fail('no such overload');
  method('or', 'optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL, lazily);
  method('orValue', 'optional_orValue_value', [OPTIONAL, A], A, lazily);
  const list = listOf(A);
  const map = mapOf(A, B);
  library.define('_[?_]', 'list_optindex_optional_int', [list, INT], OPTIONAL, lazily);
  library.define('_[?_]', 'optional_list_optindex_optional_int', [optionalOf(list), INT], OPTIONAL, lazily);
  library.define('_[?_]', 'map_optindex_optional_value', [map, A], optionalOf(B), lazily);
  library.define('_[?_]', 'optional_map_optindex_optional_value', [optionalOf(map), A], optionalOf(B), lazily);
  library.define('_[_]', 'optional_list_index_int', [optionalOf(list), INT], OPTIONAL, lazily);
  library.define('_[_]', 'optional_map_index_value', [optionalOf(map), A], optionalOf(B), lazily);
  defineInsertions(library);
}

/** The macros `transformMap` and `transformMapEntry` use these functions. They change the map. */
function defineInsertions(library: FunctionLibrary): void {
  const map = mapOf(A, B);
  library.define(
    'cel.@mapInsert',
    '@mapInsert_map_key_value',
    [map, A, B],
    map,
    ([into, key, value]: readonly [LiteralMap, Value, Value]) => {
      into.insert(key, value);
      return into;
    },
  );
  library.define(
    'cel.@mapInsert',
    '@mapInsert_map_map',
    [map, map],
    map,
    ([into, from]: readonly [LiteralMap, CelMap], meter) => {
      meter.work(from.size);
      for (const key of from.keys()) into.insert(key, from.get(key)!);
      return into;
    },
  );
}

function isZero(value: Value): boolean {
  if (isList(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof LiteralMap) return value.size === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.nanos === 0n;
  if (value instanceof CelOptional) return value.value === undefined;
  return value === null || value === false || value === 0n || value === 0 || value === '';
}
