import type { Strategy } from '../strategy.ts';
import { fieldsAt, numberAt, optionalFields, setDefaults } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateSelectedTemplate } from './validate-pod-template.ts';

export const replicaSetStrategy: Strategy = {
  selectableFields: {
    'status.replicas': (object) => String(numberAt(optionalFields(object, 'status'), 'replicas') ?? 0),
  },

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    defaultPodTemplate(fieldsAt(spec, 'template'));
    setDefaults(spec, { replicas: 1 });
  },

  validate(object) {
    const spec = optionalFields(object, 'spec');
    return [
      ...validateNotNegative(spec, ['replicas', 'minReadySeconds']),
      ...validateSelectedTemplate(spec, { kind: 'replicaset', restartPolicies: ['Always'] }),
    ];
  },

  validateUpdate: (object, old) =>
    validateImmutable(optionalFields(object, 'spec'), optionalFields(old, 'spec'), 'spec', ['selector']),
};
