import type { KubeObject } from '@asterism/machinery';
import type { Strategy } from '../strategy.ts';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText } from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateSelectedTemplate } from './validate-pod-template.ts';

export const deploymentStrategy: Strategy = {
  statusKeepsLabels: true,
  resetFields: { status: [['spec'], ['metadata', 'labels']] },

  applyDefaults(draft) {
    const spec = fieldsAt(draft, 'spec');
    defaultPodTemplate(fieldsAt(spec, 'template'));
    setDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    const strategy = fieldsAt(spec, 'strategy');
    setDefaultText(strategy, 'type', 'RollingUpdate');
    if (strategy.type !== 'RollingUpdate') return;
    setDefaults(fieldsAt(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
  },

  validate(object) {
    const spec = specOf(object);
    return [
      ...validateNotNegative(spec, ['replicas']),
      ...validateSelectedTemplate(spec, { kind: 'deployment', restartPolicies: ['Always'] }),
      ...validateNotNegative(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
      ...validateNotNegative(
        optionalFields(object, 'status'),
        ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'],
        'status',
      ),
    ];
  },

  validateUpdate: (object, old) => validateImmutable(specOf(object), specOf(old), 'spec', ['selector']),
};

function specOf(object: KubeObject): Fields | undefined {
  return optionalFields(object, 'spec');
}
