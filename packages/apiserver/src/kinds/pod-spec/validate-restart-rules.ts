import type { Container } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';

const POLICIES = ['Always', 'Never', 'OnFailure'];
const ACTIONS = ['Restart', 'RestartAllContainers'];
const OPERATORS = ['In', 'NotIn'];
const MOST_RULES = 20;
const MOST_EXIT_CODES = 255;

/** `validateContainerRestartPolicy` (KEP-5307): a container's own restart policy and its rules. */
export function validateRestartRules(
  { restartPolicy, restartPolicyRules = [] }: Container,
  at: FieldPath,
  faults: Faults,
): void {
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return;
    faults.required(at.child('restartPolicy'), 'must specify restartPolicy when restart rules are used');
  } else if (!POLICIES.includes(restartPolicy)) faults.notSupported(at.child('restartPolicy'), restartPolicy, POLICIES);
  const rules = at.child('restartPolicyRules');
  if (restartPolicyRules.length > MOST_RULES) faults.tooMany(rules, restartPolicyRules.length, MOST_RULES);
  for (const [index, { action = '', exitCodes }] of restartPolicyRules.entries()) {
    const place = rules.index(index);
    if (!ACTIONS.includes(action)) faults.notSupported(place.child('action'), action, ACTIONS);
    if (!exitCodes) {
      faults.required(place.child('exitCodes'), 'must be specified');
      continue;
    }
    const { operator = '', values = [] } = exitCodes as Partial<typeof exitCodes>;
    const codes = place.child('exitCodes');
    if (!OPERATORS.includes(operator)) faults.notSupported(codes.child('operator'), operator, OPERATORS);
    if (values.length > MOST_EXIT_CODES) faults.tooMany(codes.child('values'), values.length, MOST_EXIT_CODES);
  }
}
