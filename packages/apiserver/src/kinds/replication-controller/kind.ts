import type { LabelSelector } from '@asterism/machinery';
import {
  validateCounts,
  validateServing,
  refuseLabels,
  SPEC,
  specOf,
  statusOf,
  templateOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { type Fields, fieldsAt, numberAt, optionalFields, setDefaults } from '../fields/draft-fields.ts';
import { collectFaults, type Faults } from '../validation/faults.ts';
import { selectorTakes } from '../validation/validate-label-selector.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import { validateReplicaStatus, REPLICA_COUNTS } from '../replica-set/kind.ts';
import type { Kind } from '../../contract/kind.ts';

export const replicationControllerKind: Kind = {
  groupResource: 'replicationcontrollers',
  strategy: {
    generation: 'spec',
    bookmark: { spec: { replicas: 0 } },
    defaultPropagation: 'Orphan',
    selectableFields: {
      'status.replicas': (object) => String(numberAt(optionalFields(object, 'status'), 'replicas') ?? 0),
    },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      setDefaults(spec, { replicas: 1 });
      const template = optionalFields(spec, 'template');
      if (!template) return;
      defaultPodTemplate(template);
      const labels = optionalFields(optionalFields(template, 'metadata'), 'labels') as
        | Record<string, string>
        | undefined;
      if (!labels) return;
      if (Object.keys(optionalFields(spec, 'selector') ?? {}).length === 0) spec.selector = { ...labels };
      if (!draft.metadata.labels) draft.metadata.labels = { ...labels };
    },

    validate: (object) => collectFaults((faults) => validateControllerSpec(specOf(object), faults)),

    validateStatus: (object) =>
      collectFaults((faults) => validateReplicaStatus(statusOf(object), REPLICA_COUNTS, faults)),

    warnings: workloadWarnings,
  },
};

function validateControllerSpec(spec: Fields, faults: Faults): void {
  validateCounts(spec, ['minReadySeconds'], SPEC, faults);
  const matchLabels = (spec.selector ?? {}) as Record<string, string>;
  const isEmpty = Object.keys(matchLabels).length === 0;
  if (isEmpty) faults.required(SPEC.child('selector'));
  validateCounts(spec, ['replicas'], SPEC, faults);
  const at = SPEC.child('template');
  if (!optionalFields(spec, 'template')) return faults.required(at);
  const template = templateOf(spec);
  const selector: LabelSelector = { matchLabels };
  if (!isEmpty && selectorTakes(selector, template.metadata?.labels) !== true) refuseLabels(template, at, faults);
  validatePodTemplate(template, at, faults);
  validateServing(template, 'ReplicationController', at, faults);
}
