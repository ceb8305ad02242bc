import {
  type ContainerStatus,
  deepEqual,
  type Pod,
  type PodCondition,
  type PodResourceClaimStatus,
  type PodSpec,
  type PodStatus,
  seenBefore,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { parseIp, validateIp } from '../ip/ip-address.ts';
import { validateDnsLabel } from '../validation/validate-text.ts';
import { validatePodAnnotationUpdates, specOf } from './validate-pod-update.ts';

const STATUS = FieldPath.of('status');
const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

/** The rules of `ValidatePodStatusUpdate`. */
export function validatePodStatus(pod: Pod, old: Pod, faults: Faults): void {
  const { status = {} } = pod;
  const { status: before = {} } = old;
  const spec = specOf(old);
  validatePodAnnotationUpdates(pod, old, faults);
  validateConditions(status.conditions ?? [], faults);
  if (status.nominatedNodeName && status.nominatedNodeName !== before.nominatedNodeName) {
    const { nominatedNodeName: name } = status;
    const at = STATUS.child('nominatedNodeName');
    faults.invalidEach(at, name, validateDns1123Subdomain(name));
    if (spec.nodeName) faults.forbidden(at, 'may not be set on pods that are already bound to a node');
  }
  if ((status.observedGeneration ?? 0) < 0) {
    const detail = 'must be a non-negative integer';
    faults.invalid(STATUS.child('observedGeneration'), status.observedGeneration, detail);
  }
  if (before.qosClass !== undefined && status.qosClass !== before.qosClass) {
    faults.invalid(STATUS.child('qosClass'), status.qosClass ?? '', 'field is immutable');
  }
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    validateTransitions(status[list] ?? [], before[list] ?? [], list, spec, faults);
  }
  validateClaimStatuses(status.resourceClaimStatuses ?? [], spec, faults);
  validatePodAddresses(status, before, faults);
  validateHostAddresses(status, faults);
}

function validateConditions(conditions: readonly PodCondition[], faults: Faults): void {
  for (const [index, { type, observedGeneration = 0 }] of conditions.entries()) {
    const at = STATUS.child('conditions').index(index);
    if (observedGeneration < 0) {
      faults.invalid(at.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero');
    }
    if (!OWN_CONDITIONS.includes(type)) faults.invalidEach(at.child('Type'), type, validateQualifiedName(type));
  }
}

/** A container that is over stays over, unless the pod restarts it. */
function validateTransitions(
  now: readonly ContainerStatus[],
  old: readonly ContainerStatus[],
  list: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
  spec: PodSpec,
  faults: Faults,
): void {
  const isEphemeral = list === 'ephemeralContainerStatuses';
  if (!isEphemeral && (spec.restartPolicy ?? 'Always') === 'Always') return;
  const containers = list === 'containerStatuses' ? spec.containers : spec.initContainers;
  const byName = firstByName(containers ?? []);
  const running = Map.groupBy(
    now.filter((status) => !status.state?.terminated),
    (status) => status.name,
  );
  for (const [index, { name, state }] of old.entries()) {
    if (!state?.terminated) continue;
    const failed = state.terminated.exitCode !== 0;
    if (!isEphemeral) {
      const container = byName.get(name);
      const policy = container?.restartPolicy ?? spec.restartPolicy;
      if (policy === 'Always' || container?.restartPolicyRules?.length) continue;
      if (failed && policy === 'OnFailure') continue;
    }
    for (const _status of running.get(name) ?? []) {
      faults.forbidden(
        STATUS.child(list).index(index).child('state'),
        'may not be transitioned to non-terminated state',
      );
    }
  }
}

/** By its name, the first that has it. */
function firstByName<T extends { name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.toReversed().map((item) => [item.name, item]));
}

function validateClaimStatuses(statuses: readonly PodResourceClaimStatus[], spec: PodSpec, faults: Faults): void {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const isRepeated = seenBefore<string>();
  for (const [index, { name, resourceClaimName }] of statuses.entries()) {
    const at = STATUS.child('resourceClaimStatuses').index(index);
    const isKnown = known.has(name);
    if (isRepeated(name)) faults.duplicate(at.child('name'), name);
    else validateDnsLabel(name, at.child('name'), faults);
    if (!isKnown) {
      faults.invalid(at.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`');
    }
    if (resourceClaimName) {
      const wrong = validateDns1123Subdomain(resourceClaimName);
      faults.invalidEach(at.child('resourceClaimName'), resourceClaimName, wrong);
    }
  }
}

function validatePodAddresses({ podIPs = [] }: PodStatus, { podIPs: before = [] }: PodStatus, faults: Faults): void {
  const at = STATUS.child('podIPs');
  const known = before.map(({ ip }) => ip);
  for (const [index, { ip }] of podIPs.entries()) {
    faults.addAll(validateIp(ip, at.index(index).toString(), known));
  }
  validateFamilies(podIPs, at, faults);
}

function validateHostAddresses({ hostIP = '', hostIPs = [] }: PodStatus, faults: Faults): void {
  const at = STATUS.child('hostIPs');
  const [first] = hostIPs;
  if (!first) return;
  if (first.ip !== hostIP) faults.invalid(at.index(0).child('ip'), first.ip, 'must be equal to `hostIP`');
  for (const [index, { ip }] of hostIPs.entries()) faults.addAll(validateIp(ip, at.index(index).toString()));
  validateFamilies(hostIPs, at, faults);
}

function validateFamilies(addresses: readonly { ip: string }[], at: FieldPath, faults: Faults): void {
  if (addresses.length < 2) return;
  const families = addresses.map(({ ip }) => parseIp(ip)?.family);
  if (
    deepEqual(
      [...families].sort((a, b) => (a ?? 0) - (b ?? 0)),
      [4, 6],
    )
  )
    return;
  const value = addresses.map(({ ip }) => ({ IP: ip }));
  faults.invalidStruct(at, value, 'may specify no more than one IP for each IP family');
}
