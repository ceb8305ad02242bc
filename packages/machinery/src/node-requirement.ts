import type { NodeSelectorRequirement } from './generated/core-v1.ts';
import { holds, type LabelOperator } from './label-operator.ts';

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', 'notexists'],
  ['Gt', '>'],
  ['Lt', '<'],
]);

/**
 * Whether a node with these labels (or fields) is as a pod's node affinity asks
 * (`k8s.io/component-helpers/scheduling/corev1/nodeaffinity`). `Gt` and `Lt` hold between integers alone, of any size; an operator
 * that is not known never does.
 */
export function meetsNodeRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const known = OPERATORS.get(operator);
  return known !== undefined && holds(known, Object.hasOwn(labels, key) ? labels[key] : undefined, values);
}
