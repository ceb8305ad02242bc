import {
  type PodResourceClaim,
  type PodSpec,
  type PodTemplateSpec,
  seenBefore,
  validateAnnotations,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelsAt } from '../validation/validate-label-selector.ts';
import { validateAffinity } from './validate-affinity.ts';
import { validateContainers } from './validate-containers.ts';
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostNames,
  validateHostnameOverride,
  validateHostNetworkPorts,
} from './validate-network.ts';
import { validatePodAnnotations, validateProfileAnnotations, MIRROR } from './validate-pod-annotations.ts';
import { validateResources } from './validate-resources.ts';
import { validateSchedulingGates, validateTolerations, validateTopologySpread } from './validate-scheduling.ts';
import { validatePodSecurityContext } from './validate-security.ts';
import { validateDnsLabel, validateRequiredChoice, validateSubdomain } from '../validation/validate-text.ts';
import { validateVolumes } from './validate-volumes.ts';
import { validateHostProcess, validateOs } from './validate-windows.ts';
import { eachContainer } from './each-container.ts';
import { internalForm } from '../validation/internal-form.ts';
import { validatePodResources } from './pod-resources.ts';
import { validateContainerResourceName } from './resource-names.ts';

/** The metadata of the pod itself; undefined for a template, which has no name. */
export interface PodMetadata {
  name?: string;
  annotations?: Readonly<Record<string, string>>;
}

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const LONGEST_DEADLINE = 2_147_483_647;

/** The rules of `ValidatePodSpec`, in its order, on a spec that has its defaults. */
export function validatePodSpec(spec: PodSpec, pod: PodMetadata | undefined, at: FieldPath, faults: Faults): void {
  if (spec.terminationGracePeriodSeconds === undefined) faults.required(at.child('terminationGracePeriodSeconds'));
  const isPod = pod !== undefined;
  const volumes = validateVolumes(spec.volumes ?? [], at.child('volumes'), pod?.name, faults);
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter(Boolean));
  const isRepeated = seenBefore<string>();
  for (const [index, claim] of (spec.resourceClaims ?? []).entries()) {
    const isSecond = isRepeated(claim.name);
    validateClaim({ claim, isSecond }, at.child('resourceClaims').index(index), pod, faults);
  }
  validateContainers({ spec, volumes, claimNames, isPod }, at, faults);
  validatePodResources(spec, claimNames, at, faults);
  validateHostNetworkPorts(spec, isPod, at, faults);
  validateRequiredChoice(spec.restartPolicy, RESTART_POLICIES, at.child('restartPolicy'), faults);
  validateRequiredChoice(spec.dnsPolicy, DNS_POLICIES, at.child('dnsPolicy'), faults);
  validateLabelsAt(spec.nodeSelector, at.child('nodeSelector'), faults);
  validatePodSecurityContext(spec, at.child('securityContext'), faults);
  validateAffinity(spec.affinity, at.child('affinity'), faults);
  validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, at.child('dnsConfig'), faults);
  for (const [index, { conditionType = '' }] of (spec.readinessGates ?? []).entries()) {
    const place = at.child('readinessGates').index(index).child('conditionType');
    faults.invalidEach(place, conditionType, validateQualifiedName(conditionType));
  }
  validateSchedulingGates(spec.schedulingGates ?? [], at.child('schedulingGates'), faults);
  validateTopologySpread(spec.topologySpreadConstraints ?? [], at.child('topologySpreadConstraints'), faults);
  validateHostProcess(spec, at, faults);
  validateHostUsers(spec, at, faults);
  validateHostnameOverride(spec, at, faults);
  validateNames(spec, at, faults);
  validateOs(spec, at, faults);
  if (spec.schedulingGroup) validateSchedulingGroup(spec.schedulingGroup, at.child('schedulingGroup'), faults);
  validateFileVolumes(spec, at, faults);
}

/** The names that a pod goes by, and those of what it refers to. */
function validateNames(spec: PodSpec, at: FieldPath, faults: Faults): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, priorityClassName, overhead } = spec;
  if (serviceAccountName) validateSubdomain(serviceAccountName, at.child('serviceAccountName'), faults);
  if (nodeName) validateSubdomain(nodeName, at.child('nodeName'), faults);
  if (deadline !== undefined && (deadline < 1 || deadline > LONGEST_DEADLINE)) {
    faults.invalid(at.child('activeDeadlineSeconds'), deadline, `must be between 1 and ${LONGEST_DEADLINE}, inclusive`);
  }
  validateHostNames(spec, at, faults);
  if (spec.tolerations) validateTolerations(spec.tolerations, at.child('tolerations'), faults);
  if (spec.hostAliases) validateHostAliases(spec.hostAliases, at.child('hostAliases'), faults);
  if (priorityClassName) validateSubdomain(priorityClassName, at.child('priorityClassName'), faults);
  if (spec.runtimeClassName !== undefined)
    validateSubdomain(spec.runtimeClassName, at.child('runtimeClassName'), faults);
  if (spec.preemptionPolicy !== undefined) {
    validateRequiredChoice(spec.preemptionPolicy, PREEMPTION_POLICIES, at.child('preemptionPolicy'), faults);
  }
  if (overhead) {
    const rules = { validateName: validateContainerResourceName, claimNames: new Set<string>() };
    validateResources({ limits: overhead }, at.child('overhead'), rules, faults);
  }
}

function validateClaim(
  { claim, isSecond }: { claim: PodResourceClaim; isSecond: boolean },
  at: FieldPath,
  pod: PodMetadata | undefined,
  faults: Faults,
): void {
  if (pod?.annotations && MIRROR in pod.annotations) {
    faults.add({
      type: 'FieldValueForbidden',
      field: '',
      message: 'Forbidden: static pods do not support resource claims',
    });
    return;
  }
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  if (name === '') faults.required(at.child('name'));
  else if (isSecond) faults.duplicate(at.child('name'), name);
  else validateDnsLabel(name, at.child('name'), faults);
  const told = internalForm('PodResourceClaim', claim);
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    faults.invalidStruct(at, told, detail);
  }
  if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
    faults.invalidStruct(at, told, detail);
  }
  for (const key of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
    const value = claim[key];
    if (value !== undefined) faults.invalidEach(at.child(key), value, validateDns1123Subdomain(value));
  }
}

/** A pod with users of its own shares no other namespace with its node. */
function validateHostUsers(spec: PodSpec, at: FieldPath, faults: Faults): void {
  if (spec.hostUsers !== false) return;
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork) faults.forbidden(at.child('hostNetwork'), detail);
  if (spec.hostPID) faults.forbidden(at.child('HostPID'), detail);
  if (spec.hostIPC) faults.forbidden(at.child('HostIPC'), detail);
  eachContainer(spec, at, ({ volumeDevices }, place) => {
    if (volumeDevices?.length) faults.forbidden(place().child('volumeDevices'), detail);
  });
}

function validateSchedulingGroup(
  { podGroupName: name }: { podGroupName?: string },
  at: FieldPath,
  faults: Faults,
): void {
  const place = at.child('podGroupName');
  if (name === undefined) faults.invalid(place, null, 'must specify one of: `podGroupName`');
  else validateSubdomain(name, place, faults);
}

/** Variables are read from files of an emptyDir alone. */
function validateFileVolumes(spec: PodSpec, at: FieldPath, faults: Faults): void {
  eachContainer(spec, at, ({ env }, place) => {
    if (!env) return;
    for (const [index, { valueFrom }] of env.entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName } = valueFrom.fileKeyRef;
      const volume = spec.volumes?.findLast(({ name }) => name === volumeName);
      const where = place().child('env').index(index).child('valueFrom').child('fileKeyRef').child('volumeName');
      if (!volume) faults.notFound(where, volumeName);
      else if (!volume.emptyDir) faults.invalid(where, volumeName, 'referenced volume must be of type emptyDir');
    }
  });
}

/** The rules of `ValidatePodTemplateSpec`. */
export function validatePodTemplate(template: PodTemplateSpec, at: FieldPath, faults: Faults): void {
  const { metadata, spec = { containers: [] } } = template;
  const { labels, annotations } = metadata ?? {};
  validateLabelsAt(labels, at.child('labels'), faults);
  if (annotations) {
    faults.addAll(validateAnnotations(annotations, at.child('annotations').toString()));
    validatePodAnnotations(annotations, spec, at.child('annotations'), faults);
  }
  validatePodSpec(spec, undefined, at.child('spec'), faults);
  validateProfileAnnotations(annotations, spec, at.child('spec'), faults);
  if (spec.ephemeralContainers?.length) {
    faults.forbidden(at.child('spec').child('ephemeralContainers'), 'ephemeral containers not allowed in pod template');
  }
}
