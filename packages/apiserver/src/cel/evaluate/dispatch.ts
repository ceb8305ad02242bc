import { type CelType, formatType } from '../typing/cel-type.ts';
import type { Overload } from '../typing/overload.ts';
import { CelOpaque, fail, kindOf, type Value } from '../values/value.ts';
import type { Meter } from './meter.ts';

/** Calls the overload for these values. An expression of type `dyn` may need one that the checker did not find. */
export function dispatch(
  name: string,
  overloads: readonly Overload[],
  args: readonly Value[],
  meter: Meter,
): { id: string; result: Value } {
  for (const overload of overloads) {
    if (overload.params.every((param, index) => hasType(args[index]!, param))) {
      return { id: overload.id, result: overload.run(args, meter) };
    }
  }
  if (!/^[a-zA-Z]/.test(name)) fail('no such overload');
  return fail(`no such overload: ${name}(${args.map(nameOfType).join(', ')})`);
}

function hasType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'opaque':
      return value instanceof CelOpaque && formatType(value.type) === type.name;
    case 'object':
      return kindOf(value) === 'map';
    default:
      return kindOf(value) === type.kind;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  null: 'null_type',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
  optional: 'optional_type',
};

/** The name of a value's type, as `type(value)` has it. */
export function nameOfType(value: Value): string {
  if (value instanceof CelOpaque) return formatType(value.type);
  const kind = kindOf(value);
  return NAMES[kind] ?? kind;
}
