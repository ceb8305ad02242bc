import { validateQualifiedName } from '@asterism/machinery';
import { templateOf } from '../workload/validate-workload.ts';
import { type Fields, listAt, numberAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';

const MOST_FAILURE_RULES = 20;
const MOST_EXIT_CODES = 255;
const MOST_PATTERNS = 20;
const MOST_SUCCESS_RULES = 20;
const LONGEST_INDEXES = 64 * 1024;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

/** What becomes of a job when one of its pods fails. */
export function validateFailurePolicy(policy: Fields, spec: Fields, at: FieldPath, faults: Faults): void {
  const rules = listAt(policy, 'rules');
  const place = at.child('rules');
  if (rules.length > MOST_FAILURE_RULES) faults.tooMany(place, rules.length, MOST_FAILURE_RULES);
  const pod = templateOf(spec).spec;
  const names = new Set([...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map(({ name }) => name));
  for (const [index, rule] of rules.entries()) validateFailureRule(rule, { spec, names }, place.index(index), faults);
}

function validateFailureRule(
  rule: Fields,
  { spec, names }: { spec: Fields; names: ReadonlySet<string> },
  at: FieldPath,
  faults: Faults,
): void {
  const action = textAt(rule, 'action');
  const place = at.child('action');
  if (action === '') {
    faults.required(place, `valid values: [${ACTIONS.map((each) => JSON.stringify(each)).join(' ')}]`);
  } else if (action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined) {
      faults.invalid(place, action, 'requires the backoffLimitPerIndex to be set');
    }
  } else if (!ACTIONS.includes(action)) faults.notSupported(place, action, ACTIONS);
  const exitCodes = optionalFields(rule, 'onExitCodes');
  const conditions = listAt(rule, 'onPodConditions');
  if (exitCodes) validateExitCodes(exitCodes, names, at.child('onExitCodes'), faults);
  if (conditions.length > 0) validatePatterns(conditions, at.child('onPodConditions'), faults);
  if (exitCodes && conditions.length > 0) {
    faults.invalidWithoutValue(at, 'specifying both OnExitCodes and OnPodConditions is not supported');
  }
  if (!exitCodes && conditions.length === 0) {
    faults.invalidWithoutValue(at, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function validateExitCodes(requirement: Fields, names: ReadonlySet<string>, at: FieldPath, faults: Faults): void {
  const operator = textAt(requirement, 'operator');
  if (operator === '') {
    faults.required(at.child('operator'), 'valid values: ["In" "NotIn"]');
  } else if (operator !== 'In' && operator !== 'NotIn') {
    faults.notSupported(at.child('operator'), operator, ['In', 'NotIn']);
  }
  const { containerName } = requirement;
  if (typeof containerName === 'string' && !names.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    faults.invalid(at.child('containerName'), containerName, detail);
  }
  const values = Array.isArray(requirement.values) ? (requirement.values as number[]) : [];
  const place = at.child('values');
  if (values.length === 0) return faults.invalid(place, values, 'at least one value is required');
  if (values.length > MOST_EXIT_CODES) faults.tooMany(place, values.length, MOST_EXIT_CODES);
  let isOrdered = true;
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    const previous = values[index - 1];
    if (operator === 'In' && value === 0)
      faults.invalid(place.index(index), value, 'must not be 0 for the In operator');
    if (seen.has(value)) faults.duplicate(place.index(index), value);
    seen.add(value);
    if (previous !== undefined && previous > value) isOrdered = false;
  }
  if (!isOrdered) faults.invalid(place, values, 'must be ordered');
}

function validatePatterns(patterns: readonly Fields[], at: FieldPath, faults: Faults): void {
  if (patterns.length > MOST_PATTERNS) faults.tooMany(at, patterns.length, MOST_PATTERNS);
  for (const [index, pattern] of patterns.entries()) {
    const type = textAt(pattern, 'type');
    const status = textAt(pattern, 'status');
    const place = at.index(index);
    faults.invalidEach(place.child('type'), type, validateQualifiedName(type));
    const all = ['False', 'True', 'Unknown'];
    if (status === '') {
      faults.required(place.child('status'), `valid values: [${all.map((each) => JSON.stringify(each)).join(' ')}]`);
    } else if (!all.includes(status)) faults.notSupported(place.child('status'), status, all);
  }
}

/** When a job is done before all its indexes are. */
export function validateSuccessPolicy(policy: Fields, spec: Fields, at: FieldPath, faults: Faults): void {
  const rules = listAt(policy, 'rules');
  const place = at.child('rules');
  if (rules.length === 0) {
    faults.required(place, 'at least one rules must be specified when the successPolicy is specified');
  }
  if (rules.length > MOST_SUCCESS_RULES) faults.tooMany(place, rules.length, MOST_SUCCESS_RULES);
  const completions = numberAt(spec, 'completions');
  if (completions === undefined) return;
  for (const [index, rule] of rules.entries()) validateSuccessRule(rule, completions, place.index(index), faults);
}

function validateSuccessRule(rule: Fields, completions: number, at: FieldPath, faults: Faults): void {
  const { succeededIndexes } = rule;
  const count = numberAt(rule, 'succeededCount');
  if (succeededIndexes === undefined && count === undefined) {
    faults.required(at, 'at least one of succeededCount or succeededIndexes must be specified');
  }
  let total: number | undefined;
  if (typeof succeededIndexes === 'string') {
    const place = at.child('succeededIndexes');
    if (succeededIndexes.length > LONGEST_INDEXES) faults.tooLong(place, LONGEST_INDEXES);
    const parsed = countIndexes(succeededIndexes, completions);
    if (typeof parsed === 'string') {
      faults.invalid(place, succeededIndexes, `error parsing succeededIndexes: ${parsed}`);
    } else total = parsed;
  }
  if (count === undefined) return;
  const place = at.child('succeededCount');
  faults.notNegative(at, 'succeededCount', count);
  if (count > completions) {
    faults.invalid(place, count, `must be less than or equal to ${completions} (the number of specified completions)`);
  }
  if (total !== undefined && count > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`;
    faults.invalid(place, count, detail);
  }
}

/** How many indexes `1,3-5` names; a text says why it names none. */
export function countIndexes(text: string, completions: number): number | string {
  const intervals = indexesOf(text, completions);
  return typeof intervals === 'string' ? intervals : intervals.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

/** The first and last index of each interval that `1,3-5` names. */
export function indexesOf(text: string, completions: number): [number, number][] | string {
  const intervals: [number, number][] = [];
  if (text === '') return intervals;
  for (const fragment of text.split(',')) {
    const [first = '', end, more] = fragment.split('-');
    if (more !== undefined) {
      return `the fragment ${JSON.stringify(fragment)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    }
    const last = intervals.at(-1)?.[1];
    const from = readIndex(first, last, completions);
    if (typeof from === 'string') return from;
    const to = end === undefined ? from : readIndex(end, from, completions);
    if (typeof to === 'string') return to;
    intervals.push([from, to]);
  }
  return intervals;
}

/** An index that is to be above `previous`. */
function readIndex(text: string, previous: number | undefined, completions: number): number | string {
  const index = indexOf(text);
  if (index === undefined) return `cannot convert string to integer for index: ${JSON.stringify(text)}`;
  if (index >= completions) return `too large index: ${JSON.stringify(text)}`;
  if (previous !== undefined && previous >= index)
    return `non-increasing order, previous: ${previous}, current: ${index}`;
  return index;
}

function indexOf(text: string): number | undefined {
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}
