import {
  checkAtMost,
  checkCounts,
  checkOwnSelector,
  checkSameSelector,
  checkServingTemplate,
  faultsOf,
  selectorOf,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { type Fields, fieldsAt, setDefaults } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { checkLabelSelector } from '../validation/validate-selector.ts';
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

    validateCreate: (object) => faultsOf((faults) => checkReplicaSetSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      faultsOf((faults) => {
        const spec = specOf(object);
        checkReplicaSetSpec(spec, faults);
        checkSameSelector(spec, specOf(old), faults);
      }),

    validateStatus: (object) =>
      faultsOf((faults) => checkReplicaStatus(statusOf(object), [...REPLICA_COUNTS, 'terminatingReplicas'], faults)),

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
export function checkReplicaStatus(status: Fields, counts: readonly string[], faults: Faults): void {
  checkCounts(status, counts, STATUS, faults);
  const whole = { most: 'replicas', as: 'status.replicas' };
  checkAtMost(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], whole, faults);
  checkAtMost(status, ['availableReplicas'], { most: 'readyReplicas', as: 'readyReplicas' }, faults);
}

function checkReplicaSetSpec(spec: Fields, faults: Faults): void {
  checkCounts(spec, ['replicas', 'minReadySeconds'], SPEC, faults);
  // Its words, for it is what a Deployment makes.
  checkOwnSelector(selectorOf(spec), 'deployment', (selector, at) => checkLabelSelector(selector, at, faults), faults);
  checkServingTemplate(spec, { kind: 'ReplicaSet' }, faults);
}
