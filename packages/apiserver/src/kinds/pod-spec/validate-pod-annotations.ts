import type { PodSpec, SeccompProfile } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateTolerations } from './validate-scheduling.ts';
import { eachContainer } from './each-container.ts';
import { validateDescendingPath } from '../validation/paths-within.ts';
import { readTolerations } from './read-tolerations.ts';

export type Annotations = Readonly<Record<string, string>>;

export const MIRROR = 'kubernetes.io/config.mirror';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST = 'localhost/';

/** `ValidatePodSpecificAnnotations`: annotations that are fields of a pod before there was a field. */
export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  at: FieldPath,
  faults: Faults,
): void {
  if (!annotations) return;
  const { [MIRROR]: mirror, [TOLERATIONS]: tolerations, [DELETION_COST]: cost } = annotations;
  if (mirror !== undefined && !spec.nodeName) {
    faults.invalid(at.key(MIRROR), mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  if (tolerations) validateWrittenTolerations(tolerations, at, faults);
  if (cost !== undefined && !isDeletionCost(cost)) {
    faults.invalid(at.key(DELETION_COST), cost, 'must be a 32bit integer');
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) validateSeccomp(value, at.child(key), faults);
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key.startsWith(APP_ARMOR)) validateAppArmor(key, value, spec, at.key(key), faults);
  }
}

function validateWrittenTolerations(text: string, at: FieldPath, faults: Faults): void {
  const tolerations = readTolerations(text);
  if (typeof tolerations === 'string') faults.invalid(at, TOLERATIONS, tolerations);
  else validateTolerations(tolerations, at.child(TOLERATIONS), faults);
}

function isDeletionCost(text: string): boolean {
  if (!/^(0|[-+]?[1-9]\d*|-0)$/.test(text) || text.startsWith('+')) return false;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31;
}

function validateSeccomp(profile: string, at: FieldPath, faults: Faults): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith(LOCALHOST)) validateDescendingPath(profile.slice(LOCALHOST.length), at, faults);
  else faults.invalid(at, profile, 'must be a valid seccomp profile');
}

function validateAppArmor(key: string, profile: string, spec: PodSpec, at: FieldPath, faults: Faults): void {
  const name = key.slice(APP_ARMOR.length);
  let found = false;
  eachContainer(spec, at, (container) => {
    found ||= container.name === name;
  });
  if (!found) faults.invalid(at, name, 'container not found');
  const known = profile === '' || profile === 'runtime/default' || profile === 'unconfined';
  if (!known && !profile.startsWith(LOCALHOST)) {
    faults.invalid(at, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
  }
}

/** Where an annotation and its field are both there, they must say the same. `at` is that of the spec. */
export function validateProfileAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  at: FieldPath,
  faults: Faults,
): void {
  if (!annotations) return;
  const ofPod = spec.securityContext?.seccompProfile;
  const annotated = annotations[SECCOMP_POD];
  if (ofPod && annotated !== undefined) {
    validateSameProfile(annotated, ofPod, 'seccomp', at.child('securityContext').child('seccompProfile'), faults);
  }
  eachContainer(spec, at, ({ name, securityContext }, place) => {
    const profile = securityContext?.seccompProfile;
    const text = annotations[`${SECCOMP_CONTAINER}${name}`];
    if (!profile || text === undefined) return;
    validateSameProfile(text, profile, 'seccomp', place().child('securityContext').child('seccompProfile'), faults);
  });
  if (spec.os?.name === 'windows') return;
  eachContainer(spec, at, ({ name, securityContext }, place) => {
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const text = annotations[`${APP_ARMOR}${name}`];
    if (!profile || text === undefined) return;
    validateSameProfile(text, profile, 'apparmor', place().child('securityContext').child('appArmorProfile'), faults);
  });
}

function validateSameProfile(
  text: string,
  { type, localhostProfile }: SeccompProfile,
  what: 'seccomp' | 'apparmor',
  at: FieldPath,
  faults: Faults,
): void {
  const byDefault = text === 'runtime/default' || (what === 'seccomp' && text === 'docker/default');
  const same =
    type === 'Unconfined'
      ? text === 'unconfined'
      : type === 'RuntimeDefault'
        ? byDefault
        : type !== 'Localhost' || text.startsWith(LOCALHOST);
  if (!same) return faults.forbidden(at.child('type'), `${what} type in annotation and field must match`);
  if (type === 'Localhost' && text.slice(LOCALHOST.length) !== localhostProfile) {
    faults.forbidden(at.child('localhostProfile'), `${what} profile in annotation and field must match`);
  }
}

/** `ValidatePodSpecificAnnotationUpdates`: some annotations stay as they were when the pod was made. */
export function validateAnnotationUpdates(
  annotations: Annotations = {},
  old: Annotations = {},
  at: FieldPath,
  faults: Faults,
): void {
  for (const [key, value] of Object.entries(old)) {
    if (annotations[key] === value) continue;
    if (key.startsWith(APP_ARMOR)) faults.forbidden(at.key(key), 'may not remove or update AppArmor annotations');
    if (key === MIRROR) faults.forbidden(at.key(key), 'may not remove or update mirror pod annotation');
  }
  for (const key of Object.keys(annotations)) {
    if (key in old) continue;
    if (key.startsWith(APP_ARMOR)) faults.forbidden(at.key(key), 'may not add AppArmor annotations');
    if (key === MIRROR) faults.forbidden(at.key(key), 'may not add mirror pod annotation');
  }
}
