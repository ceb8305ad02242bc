import {
  type PodSecurityContext,
  type PodSpec,
  type SecurityContext,
  validateDns1123Subdomain,
  type WindowsSecurityContextOptions,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { eachContainer } from './each-container.ts';

const MOST_CREDENTIAL_BYTES = 64 * 1024;
const MOST_DOMAIN_CHARACTERS = 256;
const MOST_USER_CHARACTERS = 104;
const CONTROL = /\p{Cc}/u;
const NETBIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';

export function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (!options) return;
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  if (name !== undefined) {
    faults.invalidEach(at.child('gmsaCredentialSpecName'), name, validateDns1123Subdomain(name));
  }
  if (spec === '') {
    faults.invalid(at.child('gmsaCredentialSpec'), spec, 'gmsaCredentialSpec cannot be an empty string');
  } else if (spec !== undefined && Buffer.byteLength(spec) > MOST_CREDENTIAL_BYTES) {
    faults.invalid(at.child('gmsaCredentialSpec'), spec, 'gmsaCredentialSpec size must be under 64 KiB');
  }
  if (user !== undefined) faults.invalidEach(at.child('runAsUserName'), user, validateUserName(user));
}

function validateUserName(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (CONTROL.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const faults: string[] = [];
  if (domain !== undefined) {
    if (domain.length >= MOST_DOMAIN_CHARACTERS) {
      faults.push(`runAsUserName's Domain length must be under ${MOST_DOMAIN_CHARACTERS} characters`);
    }
    if (!NETBIOS_DOMAIN.test(domain) && !new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`).test(domain)) {
      faults.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user === '') faults.push("runAsUserName's User cannot be empty");
  else if (user.length > MOST_USER_CHARACTERS) {
    faults.push(`runAsUserName's User length must not be longer than ${MOST_USER_CHARACTERS} characters`);
  }
  if (/^[. ]+$/.test(user)) faults.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    faults.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return faults;
}

/** HostProcess: all containers of a pod or none, and only with the network of the node. */
export function validateHostProcess(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let all = 0;
  let hostProcesses = 0;
  eachContainer(spec, at, ({ securityContext }, place) => {
    all += 1;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const where = place().child('securityContext').child('windowsOptions').child('hostProcess');
      faults.invalid(where, own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`);
    }
    if (own ?? ofPod) hostProcesses += 1;
  });
  if (hostProcesses === 0) return;
  if (hostProcesses !== all) {
    faults.invalid(
      at,
      '',
      'If pod contains any hostProcess containers then all containers must be HostProcess containers',
    );
  }
  if (!spec.hostNetwork) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    faults.invalid(at.child('hostNetwork'), false, detail);
  }
}

/** What `spec.os` has to say of the rest of the pod. */
export function validateOs(spec: PodSpec, at: FieldPath, faults: Faults): void {
  if (!spec.os) return;
  const { name } = spec.os;
  if (!name) return faults.required(at.child('os').child('name'));
  if (name === 'linux') forbidWindowsOptions(spec, at, faults);
  else if (name === 'windows') forbidLinuxFields(spec, at, faults);
  else faults.notSupported(at.child('os'), name, ['linux', 'windows']);
}

function forbidWindowsOptions(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const detail = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions) {
    faults.forbidden(at.child('securityContext').child('windowsOptions'), detail);
  }
  eachContainer(spec, at, ({ securityContext }, place) => {
    if (securityContext?.windowsOptions) {
      faults.forbidden(place().child('securityContext').child('windowsOptions'), detail);
    }
  });
}

/** In the order in which upstream forbids them; those with a true are of the pod and not of its security context. */
const LINUX_OF_POD: readonly [keyof PodSecurityContext | keyof PodSpec, ofSpec?: true][] = [
  ['appArmorProfile'],
  ['seLinuxOptions'],
  ['hostUsers', true],
  ['hostPID', true],
  ['hostIPC', true],
  ['seccompProfile'],
  ['fsGroup'],
  ['fsGroupChangePolicy'],
  ['sysctls'],
  ['shareProcessNamespace', true],
  ['runAsUser'],
  ['runAsGroup'],
  ['supplementalGroups'],
  ['supplementalGroupsPolicy'],
  ['seLinuxChangePolicy'],
];
const LINUX_OF_CONTAINER: readonly (keyof SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function forbidLinuxFields(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const detail = 'cannot be set for a windows pod';
  for (const [key, ofSpec] of LINUX_OF_POD) {
    if (ofSpec) {
      const value = spec[key as keyof PodSpec];
      // Upstream has these two by value: false is not set.
      const isSet = key === 'hostPID' || key === 'hostIPC' ? value === true : value !== undefined;
      if (isSet) faults.forbidden(at.child(key), detail);
    } else if (spec.securityContext?.[key as keyof PodSecurityContext] !== undefined) {
      faults.forbidden(at.child('securityContext').child(key), detail);
    }
  }
  eachContainer(spec, at, ({ securityContext }, place) => {
    if (!securityContext) return;
    for (const key of LINUX_OF_CONTAINER) {
      if (securityContext[key] !== undefined) faults.forbidden(place().child('securityContext').child(key), detail);
    }
  });
}
