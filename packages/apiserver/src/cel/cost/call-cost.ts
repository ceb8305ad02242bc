import type { Meter } from '../evaluate/meter.ts';
import { CelMap, CelOpaque, isList, type Value } from '../values/value.ts';

/** Looking at a character costs a tenth, a character of a regular expression is a quarter of a state. */
const CHARACTER = 0.1;
const PATTERN_CHARACTER = 0.25;
/** A question to the authorizer: so that an expression of at most 1,000,000 asks two. */
const AUTHORIZATION = 350_000;
const NEW_LIST = 11;

export interface Call {
  name: string;
  /** The overload's id. */
  id: string;
  args: readonly Value[];
  result: Value;
  meter: Meter;
}

type CostOf = (call: Call) => number;

const characters = (size: number): number => Math.ceil(size * CHARACTER);
const sizeAt = ({ args, meter }: Call, index: number): number => meter.sizeOf(args[index]!);

const traversal: CostOf = ({ args }) => traversalCost(args[0]!);
const receiver: CostOf = (call) => characters(sizeAt(call, 0));
const receiverTwice: CostOf = (call) => characters(sizeAt(call, 0) * 2);
const argument: CostOf = (call) => characters(sizeAt(call, 1));
const smaller: CostOf = (call) => characters(Math.min(sizeAt(call, 0), sizeAt(call, 1)));
const product: CostOf = (call) => sizeAt(call, 0) * sizeAt(call, 1);
const newList: CostOf = ({ result, meter }) => NEW_LIST + meter.sizeOf(result);
const pattern: CostOf = (call) => characters(1 + sizeAt(call, 0)) * Math.ceil(sizeAt(call, 1) * PATTERN_CHARACTER);

/** Functions of Kubernetes' library by their names. */
const BY_NAME = new Map<string, CostOf>([
  ['check', () => AUTHORIZATION],
  ['isSorted', traversal],
  ['sum', traversal],
  ['max', traversal],
  ['min', traversal],
  ['indexOf', traversal],
  ['lastIndexOf', traversal],
  ['url', receiver],
  ['lowerAscii', receiver],
  ['upperAscii', receiver],
  ['substring', receiver],
  ['trim', receiver],
  ['replace', receiverTwice],
  ['split', receiverTwice],
  ['join', ({ result, meter }) => characters(meter.sizeOf(result) * 2)],
  ['find', pattern],
  ['findAll', pattern],
  ['cidr', receiver],
  ['isIP', receiver],
  ['isCIDR', receiver],
  ['ip', (call) => (call.id === 'cidr_ip' ? 1 : receiver(call))],
  ['ip.isCanonical', receiverTwice],
  ['containsIP', (call) => receiverTwice(call) + (call.id === 'cidr_contains_ip_string' ? argument(call) : 0)],
  [
    'containsCIDR',
    (call) => receiverTwice(call) + receiver(call) + 1 + (call.id === 'cidr_contains_cidr_string' ? argument(call) : 0),
  ],
  ['quantity', receiver],
  ['isQuantity', receiver],
  ['validate', (call) => characters(1 + sizeAt(call, 1)) * Math.ceil(sizeAt(call, 0) * PATTERN_CHARACTER)],
  ['fieldSelector', (call) => selectorCost(sizeAt(call, 1))],
  ['labelSelector', (call) => selectorCost(sizeAt(call, 1))],
]);

/** Functions of CEL by the ids of their overloads. */
const BY_OVERLOAD = new Map<string, CostOf>([
  ['starts_with_string', argument],
  ['ends_with_string', argument],
  ['string_to_bytes', receiver],
  ['bytes_to_string', receiver],
  ['strings_quote', receiver],
  ['string_format', receiver],
  ['in_list', (call) => sizeAt(call, 1)],
  ['add_string', (call) => characters(sizeAt(call, 0) + sizeAt(call, 1))],
  ['add_bytes', (call) => characters(sizeAt(call, 0) + sizeAt(call, 1))],
  ['matches', pattern],
  ['matches_string', pattern],
  ['contains_string', (call) => characters(sizeAt(call, 0)) * characters(sizeAt(call, 1))],
  ['list_slice', newList],
  ['lists_range', newList],
  ['list_flatten', newList],
  ['list_flatten_int', newList],
  ['list_reverse', newList],
  ['list_distinct', (call) => NEW_LIST + 2 * sizeAt(call, 0) ** 2],
  ['list_sets_contains_list', (call) => 1 + product(call)],
  ['list_sets_intersects_list', (call) => 1 + product(call)],
  ['list_sets_equivalent_list', (call) => 1 + 2 * product(call)],
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((operator): [string, CostOf][] => [
    [`${operator}_string`, smaller],
    [`${operator}_bytes`, smaller],
  ]),
  ['equals', (call) => (call.args[0] instanceof CelOpaque ? 1 : smaller(call))],
  ['not_equals', smaller],
]);

/** The cost of a call, exactly as cel-go with Kubernetes' library counts it. */
export function costOfCall(call: Call): number {
  const costOf = BY_NAME.get(call.name) ?? BY_OVERLOAD.get(call.id);
  return costOf ? costOf(call) : 1;
}

function selectorCost(size: number): number {
  return 10 + characters(size) + Math.ceil(Math.ceil(size * 0.5) * 50);
}

/** The cost of looking at all that is in a value. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * CHARACTER);
  if (value instanceof Uint8Array) return Math.floor(value.length * CHARACTER);
  if (isList(value)) return value.reduce((sum: number, each) => sum + traversalCost(each), 0);
  if (!(value instanceof CelMap)) return 1;
  let cost = 0;
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key)!);
  return cost;
}
