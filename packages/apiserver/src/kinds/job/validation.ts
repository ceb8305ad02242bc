import {
  deepEqual,
  type KubeObject,
  type LabelSelector,
  type PodTemplateSpec,
  validateDns1123Label,
} from '@asterism/machinery';
import { validateFailurePolicy, validateSuccessPolicy } from './validate-job-policies.ts';
import {
  validateCounts,
  validateImmutable,
  validateSameSelector,
  IMMUTABLE,
  MISMATCH,
  SPEC,
  specOf,
  templateOf,
} from '../workload/validate-workload.ts';
import { type Fields, numberAt, optionalFields } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector, selectorTakes, writtenSelector } from '../validation/validate-label-selector.ts';
import { validateDomainPrefixedPath } from '../validation/name-formats.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { internalForm, internalPodTemplate } from '../validation/internal-form.ts';

/** So many indexes may fail and so many pods run at once; of a job with more indexes than these, fewer. */
const MANY_INDEXES = 100_000;
const MOST_FAILED_OF_MANY = 10_000;
const LONGEST_MANAGER = 63;

/** The rules of `ValidateJob`. */
export function validateJob(object: KubeObject, faults: Faults): void {
  const spec = specOf(object);
  validateGeneratedSelector(object, spec, faults);
  validateJobSpec(spec, SPEC, faults);
  validateSelector(spec, faults);
  const completions = numberAt(spec, 'completions');
  if (spec.completionMode !== 'Indexed' || completions === undefined || completions <= 0) return;
  const last = `${object.metadata?.name ?? ''}-${completions - 1}`;
  const at = FieldPath.of('metadata').child('name');
  if (validateDns1123Label(last).length === 0) return;
  faults.invalid(at, object.metadata?.name ?? '', `will not able to create pod with invalid DNS label: ${last}`);
}

function validateSelector(spec: Fields, faults: Faults): void {
  const selector = spec.selector as LabelSelector | undefined;
  const at = SPEC.child('selector');
  if (!selector) faults.required(at);
  else validateLabelSelector(selector, at, faults);
  const { labels } = templateOf(spec).metadata ?? {};
  // What cannot be asked has its fault already.
  if (selectorTakes(selector, labels) !== false) return;
  faults.invalid(SPEC.child('template').child('metadata').child('labels'), labels ?? null, MISMATCH);
}

/** Labels and a selector that nobody set by hand are those that every job gets. */
function validateGeneratedSelector({ metadata }: KubeObject, spec: Fields, faults: Faults): void {
  if (spec.manualSelector === true) return;
  const selector = spec.selector as LabelSelector | undefined;
  // Either it was forgotten, or this is an update of a job without one; both are told elsewhere.
  if (!selector) return;
  const { uid = '', name = '' } = metadata ?? {};
  const expected: Record<string, string> = {
    'controller-uid': uid,
    'batch.kubernetes.io/controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/job-name': name,
  };
  const { labels = {} } = templateOf(spec).metadata ?? {};
  const at = SPEC.child('template').child('metadata').child('labels');
  for (const [key, value] of Object.entries(expected)) {
    const actual = labels[key];
    if (actual === undefined) faults.required(at.key(key), `must be '${value}'`);
    else if (actual !== value) faults.invalid(at.key(key), labels, `must be '${value}'`);
  }
  if (selectorTakes(selector, expected)) return;
  faults.invalidStruct(SPEC.child('selector'), writtenSelector(selector), '`selector` not auto-generated');
}

/** The rules of `validateJobSpec`, of a job or of those that a CronJob makes. */
export function validateJobSpec(spec: Fields, at: FieldPath, faults: Faults): void {
  const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
  validateCounts(spec, [...counts, 'backoffLimitPerIndex', 'maxFailedIndexes'], at, faults);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    faults.required(at.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  }
  if (typeof spec.managedBy === 'string') {
    const place = at.child('managedBy');
    faults.addAll(validateDomainPrefixedPath(spec.managedBy, place.toString()));
    if (spec.managedBy.length > LONGEST_MANAGER) faults.tooLong(place, LONGEST_MANAGER);
  }
  validateCompletionMode(spec, at, faults);
  const failurePolicy = optionalFields(spec, 'podFailurePolicy');
  if (failurePolicy) validateFailurePolicy(failurePolicy, spec, at.child('podFailurePolicy'), faults);
  const successPolicy = optionalFields(spec, 'successPolicy');
  if (successPolicy) {
    if (spec.completionMode === 'Indexed') {
      validateSuccessPolicy(successPolicy, spec, at.child('successPolicy'), faults);
    } else {
      const shown = internalForm('SuccessPolicy', successPolicy);
      faults.invalidStruct(at.child('successPolicy'), shown, 'requires indexed completion mode');
    }
  }
  const replacement = spec.podReplacementPolicy;
  const supported = failurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  if (typeof replacement === 'string' && !supported.includes(replacement)) {
    faults.notSupported(at.child('podReplacementPolicy'), replacement, supported);
  }
  const template = templateOf(spec);
  validatePodTemplate(template, at.child('template'), faults);
  validateRestarts(
    template,
    failurePolicy !== undefined,
    at.child('template').child('spec').child('restartPolicy'),
    faults,
  );
}

function validateCompletionMode(spec: Fields, at: FieldPath, faults: Faults): void {
  const { completionMode } = spec;
  const completions = numberAt(spec, 'completions');
  const parallelism = numberAt(spec, 'parallelism');
  const backoffLimitPerIndex = numberAt(spec, 'backoffLimitPerIndex');
  const maxFailedIndexes = numberAt(spec, 'maxFailedIndexes');
  if (completionMode !== undefined && completionMode !== 'NonIndexed' && completionMode !== 'Indexed') {
    faults.notSupported(at.child('completionMode'), completionMode, ['NonIndexed', 'Indexed']);
  }
  if (completionMode === 'Indexed') {
    if (completions === undefined) faults.required(at.child('completions'), 'when completion mode is Indexed');
    const detail = `must be less than or equal to ${MANY_INDEXES} when completion mode is Indexed`;
    if (parallelism !== undefined && parallelism > MANY_INDEXES) {
      faults.invalid(at.child('parallelism'), parallelism, detail);
    }
    validateManyIndexes({ completions, parallelism, maxFailedIndexes, perIndex: backoffLimitPerIndex }, at, faults);
  } else if (completionMode === 'NonIndexed' || completionMode === undefined) {
    const detail = 'requires indexed completion mode';
    if (backoffLimitPerIndex !== undefined) {
      faults.invalid(at.child('backoffLimitPerIndex'), backoffLimitPerIndex, detail);
    }
    if (maxFailedIndexes !== undefined) faults.invalid(at.child('maxFailedIndexes'), maxFailedIndexes, detail);
  }
}

interface Indexes {
  completions: number | undefined;
  parallelism: number | undefined;
  maxFailedIndexes: number | undefined;
  perIndex: number | undefined;
}

function validateManyIndexes(
  { completions, parallelism, maxFailedIndexes, perIndex }: Indexes,
  at: FieldPath,
  faults: Faults,
): void {
  const failed = at.child('maxFailedIndexes');
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    faults.invalid(failed, maxFailedIndexes, 'must be less than or equal to completions');
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MANY_INDEXES) {
    faults.invalid(failed, maxFailedIndexes, `must be less than or equal to ${MANY_INDEXES}`);
  }
  if (completions === undefined || completions <= MANY_INDEXES || perIndex === undefined) return;
  const condition = `when completions are above ${MANY_INDEXES}`;
  if (maxFailedIndexes === undefined) {
    faults.required(failed, `must be specified ${condition}`);
  } else if (maxFailedIndexes > MOST_FAILED_OF_MANY) {
    faults.invalid(
      failed,
      maxFailedIndexes,
      `must be less than or equal to ${MOST_FAILED_OF_MANY} ${condition} and used with backoff limit per index`,
    );
  }
  if (parallelism !== undefined && parallelism > MOST_FAILED_OF_MANY) {
    faults.invalid(
      at.child('parallelism'),
      parallelism,
      `must be less than or equal to ${MOST_FAILED_OF_MANY} ${condition} and used with backoff limit per index`,
    );
  }
}

/** Pods of a job come to an end. */
function validateRestarts({ spec }: PodTemplateSpec, withPolicy: boolean, at: FieldPath, faults: Faults): void {
  const policy = spec?.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') faults.required(at, 'valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') faults.notSupported(at, policy, ['OnFailure', 'Never']);
  else if (withPolicy && policy !== 'Never') {
    faults.invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

/** The rules of `ValidateJobUpdate`, which looks at the spec once for itself and once with the old one beside it. */
export function validateJobUpdate(object: KubeObject, old: KubeObject, faults: Faults): void {
  const spec = specOf(object);
  const before = specOf(old);
  validateJob(object, faults);
  validateJobSpec(spec, SPEC, faults);
  validateSelector(spec, faults);
  validateCompletions(spec, before, faults);
  validateSameSelector(spec, before, faults);
  validateSameTemplate(spec, before, old, faults);
  validateImmutable(spec, before, { key: 'completionMode', at: SPEC }, faults);
  const told = (type: string) => (value: unknown) => internalForm(type, value as object);
  validateImmutable(spec, before, { key: 'podFailurePolicy', at: SPEC, told: told('PodFailurePolicy') }, faults);
  validateImmutable(spec, before, { key: 'backoffLimitPerIndex', at: SPEC }, faults);
  validateImmutable(spec, before, { key: 'managedBy', at: SPEC }, faults);
  validateImmutable(spec, before, { key: 'successPolicy', at: SPEC, told: told('SuccessPolicy') }, faults);
}

/** An indexed job may grow and shrink, if as many of it run as there are. */
function validateCompletions(spec: Fields, old: Fields, faults: Faults): void {
  const { completions, parallelism } = spec;
  const at = SPEC.child('completions');
  if (completions === undefined || spec.completionMode !== 'Indexed') {
    return validateImmutable(spec, old, { key: 'completions', at: SPEC }, faults);
  }
  if (completions === old.completions || completions === parallelism) return;
  faults.invalid(at, completions, 'can only be modified in tandem with spec.parallelism');
}

/** Before it starts, a job may learn where and how its pods shall run. */
const SCHEDULING = ['nodeSelector', 'tolerations', 'schedulingGates'];

function validateSameTemplate(spec: Fields, old: Fields, oldJob: KubeObject, faults: Faults): void {
  const template = templateOf(spec);
  const before = templateOf(old);
  const isWaiting = old.suspend === true && optionalFields(oldJob, 'status')?.startTime === undefined;
  const shown = isWaiting ? withScheduling(before, template) : before;
  if (deepEqual(template, shown)) return;
  faults.invalidStruct(SPEC.child('template'), internalPodTemplate(template), IMMUTABLE);
}

/** `template` with what may still change taken from another. */
function withScheduling(template: PodTemplateSpec, { metadata, spec }: PodTemplateSpec): PodTemplateSpec {
  const merged: Fields = { ...template.spec };
  const from = (spec ?? {}) as unknown as Fields;
  for (const key of SCHEDULING) copy(merged, from, key);
  const affinity: Fields = { ...optionalFields(merged, 'affinity') };
  copy(affinity, optionalFields(from, 'affinity') ?? {}, 'nodeAffinity');
  if (Object.keys(affinity).length > 0 || from.affinity) merged.affinity = affinity;
  else delete merged.affinity;
  const about: Fields = { ...template.metadata };
  for (const key of ['annotations', 'labels']) copy(about, (metadata ?? {}) as Fields, key);
  const result: Fields = { ...template, spec: merged };
  if (Object.keys(about).length > 0 || metadata) result.metadata = about;
  return result as PodTemplateSpec;
}

function copy(to: Fields, from: Fields, key: string): void {
  if (from[key] === undefined) delete to[key];
  else to[key] = from[key];
}
