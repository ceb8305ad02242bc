import { type Fields, fieldsAt, listAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { validatePolicy, validatePolicyBinding } from './validation.ts';
import type { Strategy } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

/** Of ValidatingAdmissionPolicies and MutatingAdmissionPolicies. */
const admissionPolicyStrategy: Strategy = {
  generation: 'spec',
  requiresResourceVersion: true,
  configuresAdmission: true,
  allowsAnyFinalizer: true,
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
const admissionPolicyBindingStrategy: Strategy = {
  generation: 'spec',
  requiresResourceVersion: true,
  configuresAdmission: true,
  allowsAnyFinalizer: true,

  applyDefaults(draft) {
    const spec = optionalFields(draft, 'spec');
    const match = optionalFields(spec, 'matchResources');
    if (match) defaultMatch(match);
    const params = optionalFields(spec, 'paramRef');
    if (params) setDefaults(params, { parameterNotFoundAction: 'Deny' });
  },

  validate: validatePolicyBinding,
};

export const admissionPolicyKinds: readonly Kind[] = [
  { groupResource: 'mutatingadmissionpolicies.admissionregistration.k8s.io', strategy: admissionPolicyStrategy },
  {
    groupResource: 'validatingadmissionpolicies.admissionregistration.k8s.io',
    strategy: { ...admissionPolicyStrategy, resetFields: { status: [['spec'], ['metadata']] } },
  },
  {
    groupResource: 'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
    strategy: admissionPolicyBindingStrategy,
  },
  {
    groupResource: 'validatingadmissionpolicybindings.admissionregistration.k8s.io',
    strategy: admissionPolicyBindingStrategy,
  },
];

function defaultMatch(match: Fields): void {
  setDefaultText(match, 'matchPolicy', 'Equivalent');
  fieldsAt(match, 'namespaceSelector');
  fieldsAt(match, 'objectSelector');
  for (const rule of [...listAt(match, 'resourceRules'), ...listAt(match, 'excludeResourceRules')]) {
    setDefaultText(rule, 'scope', '*');
  }
}
