import {
  validateAtMost,
  validateCounts,
  validateOwnSelector,
  validateSameSelector,
  validateServingTemplate,
  selectorOf,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { type Fields, fieldsAt, setDefaults } from '../fields/draft-fields.ts';
import { collectFaults, type Faults } from '../validation/faults.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Kind } from '../../contract/kind.ts';

export const replicaSetKind: Kind = {
  groupResource: 'replicasets.apps',
  strategy: {
    generation: 'spec',
    bookmark: { spec: { replicas: 0 } },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultPodTemplate(fieldsAt(spec, 'template'));
      setDefaults(spec, { replicas: 1 });
    },

    validateCreate: (object) => collectFaults((faults) => validateReplicaSetSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      collectFaults((faults) => {
        const spec = specOf(object);
        validateReplicaSetSpec(spec, faults);
        validateSameSelector(spec, specOf(old), faults);
      }),

    validateStatus: (object) =>
      collectFaults((faults) =>
        validateReplicaStatus(statusOf(object), [...REPLICA_COUNTS, 'terminatingReplicas'], faults),
      ),

    warnings: workloadWarnings,
  },
};

export const REPLICA_COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
];

/** What the status of a ReplicaSet and that of a ReplicationController have in common. */
export function validateReplicaStatus(status: Fields, counts: readonly string[], faults: Faults): void {
  validateCounts(status, counts, STATUS, faults);
  const whole = { most: 'replicas', as: 'status.replicas' };
  validateAtMost(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], whole, faults);
  validateAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'readyReplicas' }, faults);
}

function validateReplicaSetSpec(spec: Fields, faults: Faults): void {
  validateCounts(spec, ['replicas', 'minReadySeconds'], SPEC, faults);
  // Its words, for it is what a Deployment makes.
  validateOwnSelector(
    selectorOf(spec),
    'deployment',
    (selector, at) => validateLabelSelector(selector, at, faults),
    faults,
  );
  validateServingTemplate(spec, { kind: 'ReplicaSet' }, faults);
}
