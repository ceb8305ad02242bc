import { deepEqual, type KubeObject } from '@asterism/machinery';
import {
  checkAtMostAll,
  checkCollisions,
  checkCounts,
  checkSameSelector,
  checkServing,
  checkShare,
  faultsOf,
  refuseLabels,
  selectorOf,
  shareNumber,
  SPEC,
  specOf,
  STATUS,
  statusOf,
  templateOf,
  workloadWarnings,
} from '../workload/validate-workload.ts';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText, textAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { checkLabelSelector, isEmptySelector, selectorTakes } from '../validation/validate-selector.ts';
import { checkPodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

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
    bookmark: { annotations: { 'deprecated.daemonset.template.generation': '0' } },

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

    validateCreate: (object) => faultsOf((faults) => checkDaemonSetSpec(specOf(object), faults)),

    validateUpdate: (object, old) =>
      faultsOf((faults) => {
        const spec = specOf(object);
        checkSameSelector(spec, specOf(old), faults);
        checkDaemonSetSpec(spec, faults);
      }),

    validateStatus: (object, old) =>
      faultsOf((faults) => {
        checkCounts(statusOf(object), COUNTS, STATUS, faults);
        checkCollisions(statusOf(object), statusOf(old), faults);
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

function checkDaemonSetSpec(spec: Fields, faults: Faults): void {
  const at = SPEC.child('template');
  const selector = selectorOf(spec);
  const template = templateOf(spec);
  checkLabelSelector(selector, SPEC.child('selector'), faults);
  const takes = selectorTakes(selector, template.metadata?.labels);
  if (takes === false && !(selector && isEmptySelector(selector))) refuseLabels(template, at, faults);
  if (selector && isEmptySelector(selector)) {
    faults.invalid(SPEC.child('selector'), {}, 'empty selector is invalid for daemonset');
  }
  checkPodTemplate(template, at, faults);
  checkServing(template, 'DaemonSet', at, faults);
  checkCounts(spec, ['minReadySeconds'], SPEC, faults);
  checkRollout(optionalFields(spec, 'updateStrategy') ?? {}, faults);
  checkCounts(spec, ['revisionHistoryLimit'], SPEC, faults);
}

function checkRollout(strategy: Fields, faults: Faults): void {
  const at = SPEC.child('updateStrategy');
  const type = textAt(strategy, 'type');
  const rolling = optionalFields(strategy, 'rollingUpdate');
  const place = at.child('rollingUpdate');
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rolling ?? {};
    const shown = {
      Type: type,
      RollingUpdate: rolling ? { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge } : null,
    };
    return faults.notSupported(at, shown, ['RollingUpdate', 'OnDelete']);
  }
  if (!rolling) return faults.required(place);
  const { maxUnavailable, maxSurge } = rolling;
  for (const [key, value] of [
    ['maxUnavailable', maxUnavailable],
    ['maxSurge', maxSurge],
  ] as const) {
    checkShare(value, place.child(key), faults);
    checkAtMostAll(value, place.child(key), faults);
  }
  const isUnavailable = shareNumber(maxUnavailable) !== 0;
  const isSurging = shareNumber(maxSurge) !== 0;
  if (isUnavailable && isSurging) {
    faults.invalid(place.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (!isUnavailable && !isSurging) {
    faults.required(place.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
  }
}
