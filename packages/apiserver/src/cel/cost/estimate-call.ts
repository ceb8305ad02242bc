import type { Expression } from '../syntax/expression.ts';
import type { CelType } from '../typing/cel-type.ts';
import { add, exactly, multiply, type Range, scale, UNKNOWN } from './cost-range.ts';

const CHARACTER = 0.1;
const PATTERN_CHARACTER = 0.25;
const MAX_FORMAT_PATTERN = 128;
const NEW_LIST = 11;

/** An argument of a call whose cost is estimated. */
export interface Argument {
  expression: Expression;
  type: CelType;
  size: Range;
  /** The size of its elements, if it is a list. */
  elementSize: Range;
}

/** The cost of a call without that of its arguments, and the size of its result. */
export interface CallEstimate {
  cost: Range;
  size?: Range;
}

type Estimate = (target: Argument | undefined, args: readonly Argument[]) => CallEstimate | undefined;

const ONE: CallEstimate = { cost: exactly(1) };
const one: Estimate = () => ONE;
const byFirst: Estimate = (_, [first]) => first && { cost: scale(first.size, CHARACTER) };
const byTarget: Estimate = (target) => target && { cost: scale(target.size, CHARACTER), size: target.size };

const traverse: Estimate = (target) => {
  if (!target) return undefined;
  if (target.type.kind !== 'list') return { cost: scale(target.size, CHARACTER) };
  const { kind } = target.type.element;
  const isLong = kind === 'string' || kind === 'bytes';
  const element = isLong ? add(exactly(1), scale(target.elementSize, CHARACTER)) : exactly(1);
  return { cost: multiply(target.size, element) };
};

const find: Estimate = (target, [pattern]) => {
  if (!target || !pattern) return undefined;
  const text = scale(add(target.size, exactly(1)), CHARACTER);
  return { cost: multiply(text, scale(pattern.size, PATTERN_CHARACTER)), size: { min: 0, max: target.size.max } };
};

const matches: Estimate = (target, args) => {
  const [text, pattern] = target ? [target, ...args] : args;
  const estimate = text && pattern && find(text, [pattern]);
  return estimate && { cost: estimate.cost };
};

const replace: Estimate = (target, [old, now]) => {
  if (!target || !old || !now) return undefined;
  const { size } = target;
  const most = replaced(size.max, old.size.min, now.size.max, now.size.max <= old.size.min);
  const least = replaced(size.min, old.size.max, now.size.min, old.size.max <= now.size.min);
  return { cost: scale(size, 2 * CHARACTER), size: { min: least, max: most } };
};

/** The size of a text after its parts of size `old` were replaced. */
function replaced(size: number, old: number, now: number, keepsSize: boolean): number {
  if (old === 0) return multiply(exactly(size + 1), exactly(now)).max + size;
  return keepsSize ? size : multiply(exactly(Math.ceil(size / old)), exactly(now)).max;
}

const split: Estimate = (target, args) => {
  if (!target) return undefined;
  return { cost: scale(target.size, 2 * CHARACTER), size: { min: 0, max: literalOf(args[1]) ?? target.size.max } };
};

const join: Estimate = (target, [separator]) => {
  if (!target) return undefined;
  const texts = multiply(target.size, target.elementSize);
  const between = { min: Math.max(target.size.min - 1, 0), max: Math.max(target.size.max - 1, 0) };
  const size = separator ? add(texts, multiply(separator.size, between)) : texts;
  return { cost: scale(size, CHARACTER), size };
};

const contains: Estimate = (target, [part]) =>
  target && part && { cost: multiply(scale(target.size, CHARACTER), scale(part.size, CHARACTER)) };

const compare: Estimate = (_, [a, b]) => {
  if (!a || !b) return undefined;
  const max = Math.min(a.size.max, b.size.max);
  return { cost: scale({ min: max > 0 ? 1 : 0, max }, CHARACTER) };
};

const equals: Estimate = (target, args) => (args[0]?.type.kind === 'opaque' ? ONE : compare(target, args));

const concatenate: Estimate = (_, [a, b]) => {
  const size = add(a!.size, b!.size);
  return { cost: scale(size, CHARACTER), size };
};

const sets =
  (factor: number): Estimate =>
  (_, [a, b]) =>
    a && b && { cost: add(scale(multiply(a.size, b.size), factor), exactly(1)) };

/** A new list, and the size of it. */
function newList(size: Range, cost = size): CallEstimate {
  return { cost: add(cost, exactly(NEW_LIST)), size };
}

const copied: Estimate = (target) => target && newList(target.size);
/** Each element is compared with each. */
const rearranged: Estimate = (target) => target && newList(target.size, scale(multiply(target.size, target.size), 2));

/** Without a literal of its end the whole list. A literal end before the start has no limit, as upstream has it. */
const slice: Estimate = (target, [start, end]) => {
  const from = literalOf(start) ?? 0;
  const size = (literalOf(end) ?? target!.size.max) - from;
  return newList(exactly(size < 0 ? Number.POSITIVE_INFINITY : size));
};

function literalOf(argument: Argument | undefined): number | undefined {
  const expression = argument?.expression;
  return expression?.kind === 'literal' && typeof expression.value === 'bigint' ? Number(expression.value) : undefined;
}

/** An address has 4 or 16 bytes. */
const ADDRESS: Range = { min: 4, max: 16 };
const text = (argument: Argument | undefined): Range =>
  argument?.type.kind === 'string' ? scale(argument.size, CHARACTER) : exactly(0);

const BY_NAME = new Map<string, Estimate>([
  ['check', () => ({ cost: exactly(350_000) })],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, Estimate] => [name, traverse]),
  ['url', (_, [argument]) => argument && { cost: scale(argument.size, CHARACTER), size: argument.size }],
  ...['lowerAscii', 'upperAscii', 'substring', 'trim'].map((name): [string, Estimate] => [name, byTarget]),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity'].map((name): [string, Estimate] => [name, byFirst]),
  ['ip', (target, args) => (target ? ONE : byFirst(target, args))],
  ['ip.isCanonical', (_, [first]) => first && { cost: scale(first.size, 2 * CHARACTER) }],
  ['containsIP', (_, [other]) => ({ cost: add(scale(add(ADDRESS, ADDRESS), CHARACTER), text(other)) })],
  [
    'containsCIDR',
    (_, [other]) => ({
      cost: add(scale(add(ADDRESS, ADDRESS), CHARACTER), scale(ADDRESS, CHARACTER), exactly(1), text(other)),
    }),
  ],
  [
    'validate',
    (_, [argument]) =>
      argument && { cost: scale(scale(argument.size, CHARACTER), MAX_FORMAT_PATTERN * PATTERN_CHARACTER) },
  ],
]);

const BY_OVERLOAD = new Map<string, Estimate>([
  ['string_format', (target) => target && { cost: scale(target.size, CHARACTER), size: UNKNOWN }],
  [
    'string_to_bytes',
    (_, [argument]) =>
      argument && {
        cost: scale(argument.size, CHARACTER),
        size: { min: argument.size.min, max: argument.size.max * 4 },
      },
  ],
  [
    'bytes_to_string',
    (_, [argument]) =>
      argument && {
        cost: scale(argument.size, CHARACTER),
        size: { min: Math.floor(argument.size.min / 4), max: argument.size.max },
      },
  ],
  [
    'strings_quote',
    (_, [argument]) =>
      argument && {
        cost: scale(argument.size, CHARACTER),
        size: { min: argument.size.min + 2, max: argument.size.max * 2 + 2 },
      },
  ],
  ['starts_with_string', byFirst],
  ['ends_with_string', byFirst],
  ['in_list', (_, [, list]) => list && { cost: list.size }],
  ['matches', matches],
  ['matches_string', matches],
  ['contains_string', contains],
  ['add_string', concatenate],
  ['add_bytes', concatenate],
  ['add_list', (_, [a, b]) => ({ ...ONE, size: add(a!.size, b!.size) })],
  ['equals', equals],
  ['not_equals', compare],
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((operator): [string, Estimate][] => [
    [`${operator}_string`, compare],
    [`${operator}_bytes`, compare],
  ]),
  ['list_slice', slice],
  ['lists_range', (_, [count]) => newList(exactly(literalOf(count) ?? Number.POSITIVE_INFINITY))],
  ['list_flatten', copied],
  ['list_flatten_int', copied],
  ['list_reverse', copied],
  ['list_distinct', rearranged],
  ['list_sets_contains_list', sets(1)],
  ['list_sets_intersects_list', sets(1)],
  ['list_sets_equivalent_list', sets(2)],
]);

/** Estimates a call without its arguments, as cel-go with Kubernetes' library does. */
export function estimateCall(
  name: string,
  overload: string,
  target: Argument | undefined,
  args: readonly Argument[],
): CallEstimate {
  const isSort = name === 'sort' || name === '@sortByAssociatedKeys';
  return (BY_NAME.get(name) ?? BY_OVERLOAD.get(overload) ?? (isSort ? rearranged : one))(target, args) ?? ONE;
}
