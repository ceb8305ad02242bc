import { CelMap, fail, isList, kindOf, type Value } from '../values/value.ts';

/** Visits elements or keys; with two variables index and element, or key and value. Stops when `visit` returns false. */
export function visitRange(range: Value, hasTwo: boolean, visit: (first: Value, second: Value) => boolean): void {
  if (isList(range)) {
    for (let index = 0; index < range.length; index++) {
      const element = range[index]!;
      if (!(hasTwo ? visit(BigInt(index), element) : visit(element, null))) return;
    }
  } else if (range instanceof CelMap) {
    for (const key of range.keys()) if (!visit(key, hasTwo ? range.get(key)! : null)) return;
  } else fail(`got '${kindOf(range)}', expected iterable type`);
}
