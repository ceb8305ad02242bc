import { CelMap, fail, isList, kindOf, type Value } from '../values/value.ts';

/** What a loop goes over: elements or keys, with two variables index and element, or key and value. */
export function* pairs(range: Value, hasTwo: boolean): Iterable<[Value, Value]> {
  if (isList(range)) {
    for (let index = 0; index < range.length; index++) {
      yield hasTwo ? [BigInt(index), range[index]!] : [range[index]!, null];
    }
  } else if (range instanceof CelMap) {
    for (const key of range.keys()) yield [key, hasTwo ? range.get(key)! : null];
  } else fail(`got '${kindOf(range)}', expected iterable type`);
}
