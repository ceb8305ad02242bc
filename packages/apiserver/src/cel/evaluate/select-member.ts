import { numberOf } from '../values/equal-values.ts';
import { CelMap, CelOptional, CelUint, fail, isList, kindOf, type Value } from '../values/value.ts';

/** `a.b` fails if there is none, `a.?b` is an optional, `has(a.b)` asks. */
export type SelectMode = 'required' | 'optional' | 'presence';

/** The member of a map or an element of a list. In an optional it is searched, and it is an optional then. */
export function selectMember(operand: Value, key: Value, mode: SelectMode): Value | undefined {
  if (operand instanceof CelOptional) {
    if (operand.value === undefined) return CelOptional.none;
    return selectMember(operand.value, key, 'optional');
  }
  const member = memberOf(operand, key);
  if (mode === 'presence') return member;
  if (mode === 'optional') return member === undefined ? CelOptional.none : new CelOptional(member);
  if (member !== undefined) return member;
  return fail(isList(operand) ? `index out of bounds: ${shown(key)}` : `no such key: ${shown(key)}`);
}

function memberOf(operand: Value, key: Value): Value | undefined {
  if (operand instanceof CelMap) return operand.get(key);
  if (isList(operand)) {
    const index = Number(numberOf(key) ?? Number.NaN);
    if (!Number.isInteger(index)) fail(`unsupported index type '${kindOf(key)}' in list`);
    return operand[index];
  }
  return undefined;
}

function shown(key: Value): string {
  const plain = key instanceof CelUint ? key.value : key;
  return typeof plain === 'object' ? kindOf(plain) : String(plain);
}
