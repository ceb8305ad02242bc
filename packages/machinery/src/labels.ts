import type { LabelSelector } from './generated/meta-v1.ts';
import { holds, INTEGER, type LabelOperator } from './label-operator.ts';
import { parseLabelSelectorText } from './label-selector-parser.ts';
import { validateLabelKey, validateLabelValue } from './names.ts';
import { badRequest } from './status.ts';

export type { LabelOperator };

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** Sorted, without doubles; none for `exists` and `notexists`, one for `=`, `!=`, `>` and `<`. */
  values: readonly string[];
}

/**
 * Parses `app=web,tier in (a, b),!legacy,size>3`. The requirements come sorted by key, as Kubernetes sorts them.
 *
 * @throws StatusError 400 in the words of a kube-apiserver.
 */
export function parseLabelSelector(text: string): LabelRequirement[] {
  return parseLabelSelectorText(text, createRequirement).sort(byKey);
}

/**
 * The requirements of a `LabelSelector` object. An empty selector has none and so matches everything; an *absent* selector
 * matches nothing in Kubernetes, which the caller has to decide before.
 *
 * @throws StatusError 400 for an unknown operator, and for a key or values that the operator cannot have.
 */
export function labelSelectorFromObject({ matchLabels, matchExpressions }: LabelSelector): LabelRequirement[] {
  const equalities = Object.entries(matchLabels ?? {}).map(([key, value]) => createRequirement(key, '=', [value]));
  const expressions = (matchExpressions ?? []).map(({ key, operator, values }) => {
    const known = OPERATOR_OF_EXPRESSION.get(operator);
    if (!known) throw badRequest(`"${operator}" is not a valid label selector operator`);
    return createRequirement(key, known, values ?? []);
  });
  return [...equalities, ...expressions].sort(byKey);
}

/** The text of a selector, the inverse of {@link parseLabelSelector}; empty for no requirements. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',');
}

/** Whether all requirements hold. `!=` and `notin` hold where the label is absent; `>` and `<` compare integers. */
export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
    return holds(operator, value, values);
  });
}

const OPERATOR_OF_EXPRESSION: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', 'notexists'],
]);

/** @throws StatusError 400 where key or values are not what the operator can have. */
function createRequirement(key: string, operator: LabelOperator, given: readonly string[]): LabelRequirement {
  const values = [...new Set(given)].sort();
  const faults = [
    ...joined('key', key, validateLabelKey(key)),
    ...arityFaults(operator, values),
    ...values.flatMap((value, i) => joined(`values[${i}][${key}]`, value, validateLabelValue(value))),
  ];
  if (faults.length > 0) throw badRequest(faults.length === 1 ? `${faults[0]}` : `[${faults.join(', ')}]`);
  return { key, operator, values };
}

function arityFaults(operator: LabelOperator, values: readonly string[]): string[] {
  const text = JSON.stringify(values);
  if (operator === 'in' || operator === 'notin') {
    return values.length > 0
      ? []
      : [`values: Invalid value: ${text}: for 'in', 'notin' operators, values set can't be empty`];
  }
  if (operator === 'exists' || operator === 'notexists') {
    return values.length === 0
      ? []
      : [`values: Invalid value: ${text}: values set must be empty for exists and does not exist`];
  }
  if (values.length !== 1)
    return [`values: Invalid value: ${text}: exact-match compatibility requires one single value`];
  const [value = ''] = values;
  if ((operator === '>' || operator === '<') && !INTEGER.test(value)) {
    return [
      `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    ];
  }
  return [];
}

function joined(field: string, value: string, faults: readonly string[]): string[] {
  return faults.length === 0 ? [] : [`${field}: Invalid value: ${JSON.stringify(value)}: ${faults.join('; ')}`];
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case 'notexists':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
