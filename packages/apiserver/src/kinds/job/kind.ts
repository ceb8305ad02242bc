import type { PodTemplateSpec } from '@asterism/machinery';
import { validateJob, validateJobUpdate } from './validation.ts';
import { validateJobStatus } from './status.ts';
import { SPEC, specOf, templateWarnings } from '../workload/validate-workload.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
} from '../fields/draft-fields.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { nameWarnings } from '../pod/kind.ts';
import { defaultPodTemplate } from '../pod-spec/pod-spec-defaults.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';
import { collectFaults } from '../validation/faults.ts';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
const OLD_CONTROLLER_UID = 'controller-uid';
const OLD_JOB_NAME = 'job-name';
/** No limit, where each index has its own. */
const MAX_INT32 = 2_147_483_647;
/** Beyond these a job may lose track of which of its indexes are done. */
const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

const ORPHANS_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

export const jobKind: Kind = {
  groupResource: 'jobs.batch',
  strategy: {
    generation: 'spec',
    metadataChecks: 4,
    defaultPropagation: 'Orphan',
    selectableFields: {
      'status.successful': (object) => String(numberAt(optionalFields(object, 'status'), 'succeeded') ?? 0),
    },
    unknownFieldMessage: (path) => `field label ${JSON.stringify(path)} not supported for Job`,

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultJobSpec(spec);
      labelLikePods(draft, spec);
    },

    prepareForCreate(draft) {
      selectOwnPods(draft);
      labelLikePods(draft, fieldsAt(draft, 'spec'));
    },

    validateCreate: (object) => collectFaults((faults) => validateJob(object, faults)),
    validateUpdate: (object, old) => collectFaults((faults) => validateJobUpdate(object, old, faults)),
    validateStatus: (object, old) => collectFaults((faults) => validateJobStatus(object, old, faults)),

    deletionWarnings: ({ propagationPolicy, orphanDependents }) =>
      propagationPolicy === undefined && orphanDependents === undefined ? [ORPHANS_WARNING] : [],

    warnings(object, old, subresource) {
      if (subresource !== undefined) return [];
      const isNew = !old || object.metadata?.generation !== old.metadata?.generation;
      const use = 'this is used in Pod names and hostnames';
      return [
        ...(old ? [] : nameWarnings(object.metadata?.name ?? '', use)),
        ...(isNew ? jobSpecWarnings(specOf(object), SPEC) : []),
      ];
    },
  },
};

/** Defaults of a job, and of the jobs of a CronJob in part: they get the rest when they are made. */
function defaultJobSpec(spec: Fields): void {
  defaultPodTemplate(fieldsAt(spec, 'template'));
  if (spec.completions === undefined && spec.parallelism === undefined) setDefaults(spec, { completions: 1 });
  setDefaults(spec, { parallelism: 1, suspend: false, manualSelector: false });
  setDefaults(spec, { backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32 });
  setDefaultText(spec, 'completionMode', 'NonIndexed');
  const failurePolicy = optionalFields(spec, 'podFailurePolicy');
  setDefaultText(spec, 'podReplacementPolicy', failurePolicy ? 'Failed' : 'TerminatingOrFailed');
  for (const rule of listAt(failurePolicy, 'rules')) {
    for (const condition of listAt(rule, 'onPodConditions')) setDefaultText(condition, 'status', 'True');
  }
}

export function jobSpecWarnings(spec: Fields, at: FieldPath): string[] {
  const { completionMode } = spec;
  const completions = numberAt(spec, 'completions') ?? 0;
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  const isVast =
    completionMode === 'Indexed' && completions > MANY_COMPLETIONS && parallelism > MUCH_PARALLELISM
      ? [
          `${at.toString()}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : [];
  return [...isVast, ...templateWarnings(optionalFields(spec, 'template'), at.child('template'))];
}

/** A Job without labels shares those of its pods, what {@link selectOwnPods} adds among them. */
function labelLikePods(draft: Draft, spec: Fields): void {
  const labels = optionalFields(optionalFields(optionalFields(spec, 'template'), 'metadata'), 'labels');
  if (labels && Object.keys(draft.metadata.labels ?? {}).length === 0) {
    draft.metadata.labels = labels as Record<string, string>;
  }
}

/** A Job selects its pods by its own uid, unless its author took that over by `manualSelector`. */
function selectOwnPods(draft: Draft): void {
  const spec = fieldsAt(draft, 'spec');
  if (spec.manualSelector === true) return;
  const { uid = '', name = '' } = draft.metadata;
  const template = fieldsAt(spec, 'template') as PodTemplateSpec & Fields;
  const metadata = fieldsAt(template, 'metadata');
  const labels = { [OLD_CONTROLLER_UID]: uid, [OLD_JOB_NAME]: name, [CONTROLLER_UID]: uid, [JOB_NAME]: name };
  const given = metadata.labels as Record<string, string> | undefined;
  // Labels that somebody set are left to validation.
  metadata.labels = { ...labels, ...given };
  if (given && draft.metadata.labels === given) draft.metadata.labels = metadata.labels as Record<string, string>;
  const selector = fieldsAt(spec, 'selector');
  selector.matchLabels = { [CONTROLLER_UID]: uid, ...(selector.matchLabels as object | undefined) };
}
