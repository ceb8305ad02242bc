import type { FieldError } from '@asterism/machinery';
import type { Draft, Strategy } from '../strategy.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
} from './draft-fields.ts';
import { validateImmutable } from './immutable-field.ts';
import { defaultPodTemplate } from './pod-spec-defaults.ts';
import { validateNotNegative, validateTemplate } from './validate-pod-template.ts';

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';
/** No limit, where each index has its own. */
const MAX_INT32 = 2_147_483_647;

export const jobStrategy: Strategy = {
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

  validate: (object) => validateJobSpec(optionalFields(object, 'spec')),

  validateUpdate(object, old) {
    const now = optionalFields(object, 'spec');
    const before = optionalFields(old, 'spec');
    const suspended = before?.suspend === true && optionalFields(old, 'status')?.startTime === undefined;
    const fixed = [
      'selector',
      ...(suspended ? [] : ['template']),
      'completionMode',
      'podFailurePolicy',
      'backoffLimitPerIndex',
      'managedBy',
      'successPolicy',
    ];
    const errors = validateImmutable(now, before, 'spec', fixed);
    return now?.completionMode === 'Indexed'
      ? errors
      : [...errors, ...validateImmutable(now, before, 'spec', ['completions'])];
  },
};

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

export function validateJobSpec(spec: Fields | undefined, at = 'spec'): FieldError[] {
  const keys = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
  const template = optionalFields(spec, 'template') ?? {};
  const errors = validateTemplate(template, ['OnFailure', 'Never']);
  return [
    ...validateNotNegative(spec, keys, at),
    ...errors.map((error) => ({ ...error, field: error.field.replace(/^spec/, at) })),
  ];
}

function labelLikePods(draft: Draft, spec: Fields): void {
  const labels = optionalFields(optionalFields(optionalFields(spec, 'template'), 'metadata'), 'labels');
  if (labels && !draft.metadata.labels) draft.metadata.labels = { ...labels } as Record<string, string>;
}

/** A Job selects its pods by its own uid, unless its author took that over by `manualSelector`. */
function selectOwnPods(draft: Draft): void {
  const spec = fieldsAt(draft, 'spec');
  if (spec.manualSelector === true) return;
  const { uid = '', name = '' } = draft.metadata;
  const metadata = fieldsAt(fieldsAt(spec, 'template'), 'metadata');
  const labels = { 'controller-uid': uid, 'job-name': name, [CONTROLLER_UID]: uid, [JOB_NAME]: name };
  metadata.labels = { ...(metadata.labels as object | undefined), ...labels };
  const selector = fieldsAt(spec, 'selector');
  selector.matchLabels = { ...(selector.matchLabels as object | undefined), [CONTROLLER_UID]: uid };
}
