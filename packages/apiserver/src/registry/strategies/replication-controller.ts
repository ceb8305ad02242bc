import type { LabelSelector } from '@asterism/machinery';
import type { Strategy } from '../strategy.ts';
import {
  checkCounts,
  checkServing,
  faultsOf,
  refuseLabels,
  SPEC,
  specOf,
  statusOf,
  templateOf,
  workloadWarnings,
} from './check-workload.ts';
import { type Fields, fieldsAt, numberAt, optionalFields, setDefaults } from './draft-fields.ts';
import type { Faults } from './faults.ts';
import { selectorTakes } from './label-selector-faults.ts';
import { checkPodTemplate } from './pod-spec/check-pod-spec.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { checkReplicaStatus, REPLICA_COUNTS } from './replica-set.ts';

export const replicationControllerStrategy: Strategy = {
  validatesEnums: true,
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
    const labels = optionalFields(optionalFields(template, 'metadata'), 'labels') as Record<string, string> | undefined;
    if (!labels) return;
    if (Object.keys(optionalFields(spec, 'selector') ?? {}).length === 0) spec.selector = { ...labels };
    if (!draft.metadata.labels) draft.metadata.labels = { ...labels };
  },

  validate: (object) => faultsOf((faults) => checkControllerSpec(specOf(object), faults)),

  validateStatus: (object) => faultsOf((faults) => checkReplicaStatus(statusOf(object), REPLICA_COUNTS, faults)),

  warnings: workloadWarnings,
};

function checkControllerSpec(spec: Fields, faults: Faults): void {
  checkCounts(spec, ['minReadySeconds'], SPEC, faults);
  const matchLabels = (spec.selector ?? {}) as Record<string, string>;
  const isEmpty = Object.keys(matchLabels).length === 0;
  if (isEmpty) faults.required(SPEC.child('selector'));
  checkCounts(spec, ['replicas'], SPEC, faults);
  const at = SPEC.child('template');
  if (!optionalFields(spec, 'template')) return faults.required(at);
  const template = templateOf(spec);
  const selector: LabelSelector = { matchLabels };
  if (!isEmpty && selectorTakes(selector, template.metadata?.labels) !== true) refuseLabels(template, at, faults);
  checkPodTemplate(template, at, faults);
  checkServing(template, 'ReplicationController', at, faults);
}
