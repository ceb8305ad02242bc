import { compileGoPattern } from '@asterism/machinery';
import { clauseFault, formatParts } from '../library/format-text.ts';
import type { CelFault } from '../syntax/cel-fault.ts';
import { allWithin, type Expression, type ListExpression, type MapExpression } from '../syntax/expression.ts';
import { CelFailure } from '../values/value.ts';
import { parseDuration, parseTimestamp } from '../values/parse-time.ts';
import { type CelType, formatType } from './cel-type.ts';
import type { CheckedTypes, ResolvedCall } from './checker.ts';

/** Faults of literal arguments, which would be found only when an expression is evaluated, and of lists and maps of different types. */
export function checkLiterals(root: Expression, checked: CheckedTypes): CelFault[] {
  const faults: CelFault[] = [];
  const formatted = new Set<Expression>();
  for (const expression of allWithin(root)) {
    if (expression.kind === 'call') {
      const call = checked.calls.get(expression);
      if (!call) continue;
      const [, argument] = call.args;
      if (call.name === 'format' && argument) {
        for (const each of allWithin(argument)) formatted.add(each);
        faults.push(...formatFaults(call, checked, expression.at));
      } else faults.push(...argumentFaults(call));
    }
    if (formatted.has(expression)) continue;
    if (expression.kind === 'list') faults.push(...mixedElements(expression, checked));
    if (expression.kind === 'map') faults.push(...mixedEntries(expression, checked));
  }
  return faults;
}

function argumentFaults({ name, args }: ResolvedCall): CelFault[] {
  const argument = args.at(-1);
  if (argument?.kind !== 'literal' || typeof argument.value !== 'string') return [];
  const text = argument.value;
  const isBad =
    (name === 'matches' && args.length === 2 && compileGoPattern(text).error !== undefined) ||
    (name === 'duration' && !isRead(() => parseDuration(text))) ||
    (name === 'timestamp' && !isRead(() => parseTimestamp(text)));
  return isBad ? [{ at: argument.at, message: `invalid ${name} argument` }] : [];
}

function isRead(read: () => unknown): boolean {
  try {
    return read() !== undefined;
  } catch {
    return false;
  }
}

function formatFaults({ args }: ResolvedCall, { types }: CheckedTypes, at: number): CelFault[] {
  const [text, list] = args;
  if (text?.kind !== 'literal' || typeof text.value !== 'string') return [];
  try {
    const clauses = formatParts(text.value).filter((part) => 'verb' in part);
    if (list?.kind !== 'list') return [];
    const faults: CelFault[] = [];
    for (const [index, { verb }] of clauses.entries()) {
      const element = list.elements[index];
      if (!element) return [{ at, message: `index ${index} out of range` }];
      const type = types.get(element)!;
      const message = type.kind === 'dyn' ? undefined : clauseFault(verb, formatType(type));
      if (message !== undefined) faults.push({ at: element.at, message });
    }
    return faults;
  } catch (error) {
    if (!(error instanceof CelFailure)) throw error;
    return [{ at, message: error.message }];
  }
}

function mixedElements({ elements, optional }: ListExpression, { types }: CheckedTypes): CelFault[] {
  return mixed(elements.map((element, index) => [element, valueType(types.get(element)!, optional.has(index))]));
}

function mixedEntries({ entries }: MapExpression, { types }: CheckedTypes): CelFault[] {
  const keys = entries.map(({ key }): [Expression, CelType] => [key, types.get(key)!]);
  const values = entries.map(({ value, optional }): [Expression, CelType] => [
    value,
    valueType(types.get(value)!, optional),
  ]);
  return [...mixed(keys), ...mixed(values)].slice(0, 1);
}

function valueType(type: CelType, optional: boolean): CelType {
  return optional && type.kind === 'optional' ? type.of : type;
}

/** Of the first that has another type than the ones before it. */
function mixed(parts: readonly (readonly [Expression, CelType])[]): CelFault[] {
  const known = parts.find(([, type]) => !isLoose(type));
  const other = known && parts.find(([, type]) => !isLoose(type) && formatType(type) !== formatType(known[1]));
  if (!other) return [];
  return [{ at: other[0].at, message: `expected type '${formatType(known[1])}' but found '${formatType(other[1])}'` }];
}

/** A type that is not known in full can be like any other. */
function isLoose(type: CelType): boolean {
  return formatType(type).includes('dyn');
}
