import type { Strategy } from '../strategy.ts';
import { type Fields, fieldsAt, listAt, optionalFields, setDefaultText } from './draft-fields.ts';

/** Of ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
export const admissionPolicyStrategy: Strategy = {
  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaultText(spec, 'failurePolicy', 'Fail');
    const constraints = optionalFields(spec, 'matchConstraints');
    if (constraints) defaultMatch(constraints);
  },
};

/** Of their bindings. */
export const admissionPolicyBindingStrategy: Strategy = {
  applyDefaults(draft) {
    const match = optionalFields(optionalFields(draft, 'spec'), 'matchResources');
    if (match) defaultMatch(match);
  },
};

function defaultMatch(match: Fields): void {
  setDefaultText(match, 'matchPolicy', 'Equivalent');
  fieldsAt(match, 'namespaceSelector');
  fieldsAt(match, 'objectSelector');
  for (const rule of [...listAt(match, 'resourceRules'), ...listAt(match, 'excludeResourceRules')]) {
    setDefaultText(rule, 'scope', '*');
  }
}
