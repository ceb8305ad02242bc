import { type Fields, fieldsAt, listAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { validatePolicy, validatePolicyBinding } from './validation.ts';
import type { Strategy } from '../../contract/strategy.ts';

/** Of ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
export const admissionPolicyStrategy: Strategy = {
  validatesEnums: true,
  statusKeepsLabels: true,

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    setDefaultText(spec, 'failurePolicy', 'Fail');
    const constraints = optionalFields(spec, 'matchConstraints');
    if (constraints) defaultMatch(constraints);
  },

  validate: validatePolicy,
  validateStatus: () => [],
};

/** Of their bindings. */
export const admissionPolicyBindingStrategy: Strategy = {
  validatesEnums: true,

  applyDefaults(draft) {
    const spec = optionalFields(draft, 'spec');
    const match = optionalFields(spec, 'matchResources');
    if (match) defaultMatch(match);
    const params = optionalFields(spec, 'paramRef');
    if (params) setDefaults(params, { parameterNotFoundAction: 'Deny' });
  },

  validate: validatePolicyBinding,
};

function defaultMatch(match: Fields): void {
  setDefaultText(match, 'matchPolicy', 'Equivalent');
  fieldsAt(match, 'namespaceSelector');
  fieldsAt(match, 'objectSelector');
  for (const rule of [...listAt(match, 'resourceRules'), ...listAt(match, 'excludeResourceRules')]) {
    setDefaultText(rule, 'scope', '*');
  }
}
