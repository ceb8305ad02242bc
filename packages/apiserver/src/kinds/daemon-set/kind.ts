import { deepEqual, type KubeObject } from '@asterism/machinery';
import {
  validateCollisions,
  validateCounts,
  validateSameSelector,
  specOf,
  STATUS,
  statusOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { fieldsAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateDaemonSetSpec } from './validation.ts';
import { collectFaults } from '../validation/faults.ts';

/** Counts the templates; its field went with extensions/v1beta1, its annotation stayed. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function setTemplateGeneration({ metadata }: Draft, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function templateGeneration({ metadata }: KubeObject): number {
  return Number(metadata?.annotations?.[TEMPLATE_GENERATION] ?? 1);
}

export const daemonSetKind: Kind = {
  groupResource: 'daemonsets.apps',
  strategy: {
    generation: 'spec',
    bookmark: { annotations: { [TEMPLATE_GENERATION]: '0' } },

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultPodTemplate(fieldsAt(spec, 'template'));
      const updateStrategy = fieldsAt(spec, 'updateStrategy');
      setDefaultText(updateStrategy, 'type', 'RollingUpdate');
      if (updateStrategy.type === 'RollingUpdate') {
        setDefaults(fieldsAt(updateStrategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
      }
      setDefaults(spec, { revisionHistoryLimit: 10 });
      if (!draft.metadata.annotations?.[TEMPLATE_GENERATION]) setTemplateGeneration(draft, 0);
    },

    prepareForCreate(draft) {
      if (templateGeneration(draft) < 1) setTemplateGeneration(draft, 1);
    },

    prepareForStatusUpdate: (draft, old) => setTemplateGeneration(draft, templateGeneration(old)),

    prepareForUpdate(draft, old) {
      const before = templateGeneration(old);
      const changed = !deepEqual(optionalFields(draft, 'spec')?.template, optionalFields(old, 'spec')?.template);
      setTemplateGeneration(draft, changed ? before + 1 : before);
    },

    validateCreate: (object) => collectFaults((faults) => validateDaemonSetSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      collectFaults((faults) => {
        const spec = specOf(object);
        validateSameSelector(spec, specOf(old), faults);
        validateDaemonSetSpec(spec, faults);
      }),

    validateStatus: (object, old) =>
      collectFaults((faults) => {
        validateCounts(statusOf(object), COUNTS, STATUS, faults);
        validateCollisions(statusOf(object), statusOf(old), faults);
      }),

    warnings: workloadWarnings,
  },
};

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];
