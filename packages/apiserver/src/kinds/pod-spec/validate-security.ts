import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateWindowsOptions } from './validate-windows.ts';
import { validateChoice } from '../validation/validate-text.ts';
import { internalForm } from '../validation/internal-form.ts';
import { validateDescendingPath } from '../validation/paths-within.ts';

const ID_RANGE = 'must be between 0 and 2147483647, inclusive';

function validateId(id: number | undefined, at: FieldPath, faults: Faults): void {
  if (id !== undefined && (id < 0 || id > 2_147_483_647)) faults.invalid(at, id, ID_RANGE);
}

/** `validatePodSpecSecurityContext`. */
export function validatePodSecurityContext(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const { securityContext: context, hostPID, shareProcessNamespace } = spec;
  if (!context) return;
  validateId(context.fsGroup, at.child('fsGroup'), faults);
  validateId(context.runAsUser, at.child('runAsUser'), faults);
  validateId(context.runAsGroup, at.child('runAsGroup'), faults);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    validateId(group, at.child('supplementalGroups').index(index), faults);
  }
  if (shareProcessNamespace && hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    faults.invalid(at.child('shareProcessNamespace'), true, detail);
  }
  validateSysctls(context, spec, at.child('sysctls'), faults);
  validateChoice(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], at.child('fsGroupChangePolicy'), faults);
  validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'), faults);
  validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'), faults);
  validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'), faults);
  validateChoice(context.supplementalGroupsPolicy, ['Merge', 'Strict'], at.child('supplementalGroupsPolicy'), faults);
  validateChoice(context.seLinuxChangePolicy, ['MountOption', 'Recursive'], at.child('seLinuxChangePolicy'), faults);
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_RULE =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
/** Sysctls that each IPC namespace has for itself. */
const IPC_SYSCTL = /^(kernel\.(sem$|shm|msg)|fs\.mqueue\.)/;

function validateSysctls({ sysctls }: PodSecurityContext, spec: PodSpec, at: FieldPath, faults: Faults): void {
  const names = new Set<string>();
  for (const [index, { name = '' }] of (sysctls ?? []).entries()) {
    const place = at.index(index).child('name');
    if (name === '') faults.required(place);
    else if (name.length > 253 || !SYSCTL.test(name)) faults.invalid(place, name, SYSCTL_RULE);
    else if (names.has(name)) faults.duplicate(place, name);
    const dotted = dottedSysctl(name);
    if (spec.hostNetwork && dotted.startsWith('net.')) {
      faults.invalid(place, name, "may not be specified when 'hostNetwork' is true");
    } else if (spec.hostIPC && IPC_SYSCTL.test(dotted)) {
      faults.invalid(place, name, "may not be specified when 'hostIPC' is true");
    }
    names.add(name);
  }
}

/** Where the first separator is a slash, slashes are dots and dots are slashes. */
function dottedSysctl(name: string): string {
  if (/^[^./]*\//.test(name)) return name.replaceAll(/[./]/g, (mark) => (mark === '/' ? '.' : '/'));
  return name;
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateSeccompProfile(profile: SeccompProfile | undefined, at: FieldPath, faults: Faults): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  const place = at.child('localhostProfile');
  if (!type) faults.required(at.child('type'), 'type is required when seccompProfile is set');
  else if (!PROFILE_TYPES.includes(type)) faults.notSupported(at.child('type'), type, PROFILE_TYPES);
  if (type === 'Localhost') {
    if (localhostProfile === undefined) faults.required(place, 'must be set when seccomp type is Localhost');
    else validateDescendingPath(localhostProfile, place, faults);
  } else if (localhostProfile !== undefined) {
    const told = { Type: type ?? '', LocalhostProfile: localhostProfile };
    faults.invalidStruct(place, told, 'can only be set when seccomp type is Localhost');
  }
}

const LONGEST_PROFILE = 4095;

export function validateAppArmorProfile(profile: AppArmorProfile | undefined, at: FieldPath, faults: Faults): void {
  if (!profile) return;
  const { type, localhostProfile: name } = profile;
  const place = at.child('localhostProfile');
  if (type === 'Localhost') {
    if (name === undefined) return faults.required(place, 'must be set when AppArmor type is Localhost');
    if (name.trim() !== name) faults.invalid(place, name, 'must not be padded with whitespace');
    else if (name === '') faults.required(place, 'must be set when AppArmor type is Localhost');
    if (name.length > LONGEST_PROFILE) faults.tooLong(place, LONGEST_PROFILE);
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (name !== undefined) faults.invalid(place, name, 'can only be set when AppArmor type is Localhost');
  } else if (!type) faults.required(at.child('type'), 'type is required when appArmorProfile is set');
  else faults.notSupported(at.child('type'), type, PROFILE_TYPES);
}

/** `ValidateSecurityContext` of a container. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  hostUsers: boolean,
  at: FieldPath,
  faults: Faults,
): void {
  if (!context) return;
  const { procMount, allowPrivilegeEscalation, privileged, capabilities } = context;
  validateId(context.runAsUser, at.child('runAsUser'), faults);
  validateId(context.runAsGroup, at.child('runAsGroup'), faults);
  validateChoice(procMount, ['Default', 'Unmasked'], at.child('procMount'), faults);
  if (procMount === 'Unmasked' && hostUsers) {
    faults.invalid(at.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'), faults);
  if (allowPrivilegeEscalation === false) {
    const cannot = 'cannot set `allowPrivilegeEscalation` to false and';
    if (privileged)
      faults.invalidStruct(at, internalForm('SecurityContext', context), `${cannot} \`privileged\` to true`);
    for (const capability of capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue;
      const detail = `${cannot} \`capabilities.Add\` CAP_SYS_ADMIN`;
      faults.invalidStruct(at, internalForm('SecurityContext', context), detail);
    }
  }
  validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'), faults);
  validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'), faults);
}
