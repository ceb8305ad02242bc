import type { KubeObject, LabelSelector, PodSpec, PodTemplateSpec } from '@asterism/machinery';
import { deepEqual } from '@asterism/machinery';
import { type Fields, numberAt, optionalFields } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { isEmptySelector, selectorTakes, writtenSelector } from '../validation/validate-label-selector.ts';
import { validatePodTemplate } from '../pod-spec/validate-pod-spec.ts';
import { podWarnings } from '../pod-spec/pod-warnings.ts';

export const SPEC = FieldPath.of('spec');
export const STATUS = FieldPath.of('status');
export const MISMATCH = '`selector` does not match template `labels`';
export const IMMUTABLE = 'field is immutable';

export function specOf(object: KubeObject): Fields {
  return optionalFields(object, 'spec') ?? {};
}

export function statusOf(object: KubeObject): Fields {
  return optionalFields(object, 'status') ?? {};
}

export function templateOf(spec: Fields): PodTemplateSpec {
  return (optionalFields(spec, 'template') ?? {}) as PodTemplateSpec;
}

export function selectorOf(spec: Fields): LabelSelector | undefined {
  return spec.selector as LabelSelector | undefined;
}

/** Numbers of things: none is less than zero. */
export function validateCounts(fields: Fields, names: readonly string[], at: FieldPath, faults: Faults): void {
  for (const name of names) faults.notNegative(at, name, numberAt(fields, name));
}

const PERCENT = /^[0-9]+%$/;
const BAD_PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number or a percentage of all replicas (`ValidatePositiveIntOrPercent`). */
export function validateShare(value: unknown, at: FieldPath, faults: Faults): void {
  if (typeof value === 'number' && value < 0) faults.invalid(at, value, 'must be greater than or equal to 0');
  if (typeof value === 'string' && !PERCENT.test(value)) faults.invalid(at, value, BAD_PERCENT);
}

/** Nothing is more than all (`IsNotMoreThan100Percent`). */
export function validateAtMostAll(value: unknown, at: FieldPath, faults: Faults): void {
  if (typeof value !== 'string' || !PERCENT.test(value) || Number.parseInt(value, 10) <= 100) return;
  faults.invalid(at, value, 'must not be greater than 100%');
}

/** A share as a number, percentages as such. */
export function shareNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && PERCENT.test(value) ? Number.parseInt(value, 10) : 0;
}

/** A selector that has to be there, and to select something. */
export function validateOwnSelector(
  selector: LabelSelector | undefined,
  kind: string,
  validate: (selector: LabelSelector, at: FieldPath) => void,
  faults: Faults,
): void {
  const at = SPEC.child('selector');
  if (!selector) return faults.required(at);
  validate(selector, at);
  if (isEmptySelector(selector)) faults.invalid(at, {}, `empty selector is invalid for ${kind}`);
}

/**
 * The template of pods that never end: its labels are those that the selector asks for, and no pod of it stops by itself.
 */
export function validateServingTemplate(
  spec: Fields,
  { kind, validateTemplate }: { kind: string; validateTemplate?: (template: PodTemplateSpec) => void },
  faults: Faults,
): void {
  const selector = selectorOf(spec);
  const template = templateOf(spec);
  const takes = selectorTakes(selector, template.metadata?.labels);
  if (takes === undefined) {
    return faults.invalidStruct(SPEC.child('selector'), writtenSelector(selector ?? {}), 'invalid label selector');
  }
  const at = SPEC.child('template');
  // Of an empty selector all has been said.
  if (!takes && !(selector && isEmptySelector(selector))) refuseLabels(template, at, faults);
  if (validateTemplate) validateTemplate(template);
  else validatePodTemplate(template, at, faults);
  validateServing(template, kind, at, faults);
}

export function refuseLabels({ metadata }: PodTemplateSpec, at: FieldPath, faults: Faults): void {
  faults.invalid(at.child('metadata').child('labels'), metadata?.labels ?? null, MISMATCH);
}

/** Pods of such a workload are restarted for ever. */
export function validateServing({ spec }: PodTemplateSpec, kind: string, at: FieldPath, faults: Faults): void {
  const place = at.child('spec');
  const policy = spec?.restartPolicy ?? '';
  if (policy !== 'Always') faults.notSupported(place.child('restartPolicy'), policy, ['Always']);
  if (spec?.activeDeadlineSeconds !== undefined) {
    faults.forbidden(place.child('activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** `ValidateImmutableField`. */
export function validateImmutable(
  now: Fields,
  old: Fields,
  { key, at, told = (value: unknown) => value }: { key: string; at: FieldPath; told?: (value: unknown) => unknown },
  faults: Faults,
): void {
  const value = now[key] ?? null;
  if (deepEqual(value, old[key] ?? null)) return;
  const shown = value === null ? null : told(value);
  if (typeof shown === 'object' && shown !== null) faults.invalidStruct(at.child(key), shown, IMMUTABLE);
  else faults.invalid(at.child(key), shown, IMMUTABLE);
}

export function validateSameSelector(spec: Fields, old: Fields, faults: Faults): void {
  const told = (value: unknown): object => writtenSelector(value as LabelSelector);
  validateImmutable(spec, old, { key: 'selector', at: SPEC, told }, faults);
}

/** A count of a status that goes up alone. */
export function validateCollisions(status: Fields, old: Fields, faults: Faults): void {
  const before = numberAt(old, 'collisionCount');
  const now = numberAt(status, 'collisionCount') ?? 0;
  if (before === undefined || now >= before) return;
  faults.invalid(STATUS.child('collisionCount'), now, 'cannot be decremented');
}

/** Counts of a status that are parts of another. */
export function validateAtMost(
  status: Fields,
  names: readonly string[],
  { most, as }: { most: string; as: string },
  faults: Faults,
): void {
  const limit = numberAt(status, most) ?? 0;
  for (const name of names) {
    const value = numberAt(status, name) ?? 0;
    if (value > limit) faults.invalid(STATUS.child(name), value, `cannot be greater than ${as}`);
  }
}

/** What is unwise in a template of pods. */
export function templateWarnings(template: Fields | undefined, at: FieldPath): string[] {
  if (!template) return [];
  const metadata = optionalFields(template, 'metadata');
  return podWarnings({
    spec: (optionalFields(template, 'spec') ?? {}) as unknown as PodSpec,
    annotations: metadata?.annotations as Record<string, string> | undefined,
    at: at.child('spec'),
    annotationsAt: at.child('metadata').child('annotations'),
    isTemplate: true,
  });
}

/** The same for a workload, once for each template that it comes to have. */
export function workloadWarnings(object: KubeObject, old: KubeObject | undefined, subresource?: string): string[] {
  if (subresource !== undefined) return [];
  if (old && object.metadata?.generation === old.metadata?.generation) return [];
  return templateWarnings(optionalFields(specOf(object), 'template'), SPEC.child('template'));
}
