import { deepEqual } from '@asterism/machinery';
import {
  validateAtMost,
  validateCollisions,
  validateCounts,
  validateSameSelector,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { fieldsAt, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateDeploymentSpec } from './validation.ts';
import { collectFaults } from '../validation/faults.ts';

export const deploymentKind: Kind = {
  groupResource: 'deployments.apps',
  strategy: {
    generation: 'spec',
    bookmark: { spec: { replicas: 0 } },
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

    // Its controller copies the annotations to the ReplicaSet, so they count as what a user wants.
    prepareForUpdate({ metadata }, old) {
      const { generation, annotations = {} } = old.metadata ?? {};
      if (generation === undefined || deepEqual(metadata.annotations ?? {}, annotations)) return;
      metadata.generation = generation + 1;
    },

    validateCreate: (object) => collectFaults((faults) => validateDeploymentSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      collectFaults((faults) => {
        const spec = specOf(object);
        validateDeploymentSpec(spec, faults);
        validateSameSelector(spec, specOf(old), faults);
      }),

    validateStatus: (object, old) =>
      collectFaults((faults) => {
        const status = statusOf(object);
        validateCounts(status, ['observedGeneration', ...COUNTS], STATUS, faults);
        const whole = { most: 'replicas', as: 'status.replicas' };
        validateAtMost(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], whole, faults);
        validateAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'readyReplicas' }, faults);
        validateCollisions(status, statusOf(old), faults);
      }),

    warnings: workloadWarnings,
  },
};

const COUNTS = [
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];
