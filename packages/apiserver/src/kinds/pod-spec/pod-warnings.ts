import type { Affinity, LabelSelector, NodeSelectorTerm, PodAffinityTerm, PodSpec } from '@asterism/machinery';
import { validateLabelValue } from '@asterism/machinery';
import type { FieldPath } from '../validation/field-path.ts';
import { ipWarnings } from '../ip/ip-address.ts';
import { type Annotations, APP_ARMOR, SECCOMP_CONTAINER, SECCOMP_POD } from './validate-pod-annotations.ts';
import { isFractional } from './validate-resources.ts';
import { labelDeprecation } from './deprecated-labels.ts';
import { eachContainer } from './each-container.ts';
import { warnFractions, warnPorts, warnVariables } from './warn-containers.ts';
import { fractional, warnVolumes } from './warn-volumes.ts';

const OLD_ANNOTATIONS = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;
const NULL_SELECTOR = 'a null labelSelector results in matching no pod';

export interface WarnedPod {
  spec: PodSpec;
  annotations: Annotations | undefined;
  /** Of the spec and of the annotations. */
  at: FieldPath;
  annotationsAt: FieldPath;
  /** A pod itself is told elsewhere what became of an old AppArmor annotation. */
  isTemplate: boolean;
}

/** What is legal in a pod and yet unwise, as `warningsForPodSpecAndMeta`. */
export function podWarnings({ spec, annotations, at, annotationsAt, isTemplate }: WarnedPod): string[] {
  const warnings: string[] = [];
  warnScheduling(spec, at, warnings);
  if (annotations) {
    for (const [key, message] of OLD_ANNOTATIONS) {
      if (key in annotations) warnings.push(`${annotationsAt.key(key).toString()}: ${message}`);
    }
  }
  if (spec.volumes) warnVolumes(spec, at, warnings);
  warnReferences(spec, at, warnings);
  for (const name of ['memory', 'ephemeral-storage']) {
    const amount = spec.overhead?.[name];
    if (amount !== undefined && isFractional(amount)) warnings.push(fractional(at.child('overhead').key(name), amount));
  }
  const warnAnnotation = (key: string, message: string): void => {
    if (annotations && key in annotations) warnings.push(`${annotationsAt.key(key).toString()}: ${message}`);
  };
  const seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  if (!spec.securityContext?.seccompProfile) warnAnnotation(SECCOMP_POD, seccomp);
  eachContainer(spec, at, (container, place) => {
    const { name, securityContext } = container;
    if (!securityContext?.seccompProfile) warnAnnotation(`${SECCOMP_CONTAINER}${name}`, seccomp);
    if (isTemplate && !securityContext?.appArmorProfile && !spec.securityContext?.appArmorProfile) {
      warnAnnotation(`${APP_ARMOR}${name}`, APP_ARMOR_MESSAGE);
    }
    warnFractions(container.resources, place, warnings);
    warnVariables(container, place, warnings);
  });
  warnPorts(spec, at, warnings);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const place = at.child('terminationGracePeriodSeconds');
    warnings.push(`${place.toString()}: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  if (spec.affinity) warnSelectors(spec.affinity, at.child('affinity'), warnings);
  warnAddresses(spec, at, warnings);
  return warnings;
}

export const APP_ARMOR_MESSAGE = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/** Old labels of nodes, and selectors that select nothing. */
function warnScheduling(spec: PodSpec, at: FieldPath, warnings: string[]): void {
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const message = labelDeprecation(key);
    if (message) warnings.push(`${at.child('nodeSelector').key(key).toString()}: ${message}`);
  }
  const affinity = spec.affinity?.nodeAffinity;
  const place = at.child('affinity').child('nodeAffinity');
  for (const [index, term] of (
    affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  ).entries()) {
    const terms = place.child('requiredDuringSchedulingIgnoredDuringExecution').child('nodeSelectorTerms');
    warnTerm(term, terms.index(index), false, warnings);
  }
  for (const [index, { preference }] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const terms = place.child('preferredDuringSchedulingIgnoredDuringExecution');
    warnTerm(preference, terms.index(index).child('preference'), true, warnings);
  }
  for (const [index, { topologyKey, labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const constraint = at.child('topologySpreadConstraints').index(index);
    const message = labelDeprecation(topologyKey);
    if (message) warnings.push(`${constraint.child('topologyKey').toString()}: ${topologyKey} is ${message}`);
    if (!labelSelector) warnings.push(`${constraint.child('labelSelector').toString()}: ${NULL_SELECTOR}`);
  }
}

function warnTerm(term: NodeSelectorTerm, at: FieldPath, withValues: boolean, warnings: string[]): void {
  for (const [index, { key, values }] of (term.matchExpressions ?? []).entries()) {
    const place = at.child('matchExpressions').index(index);
    const message = labelDeprecation(key);
    if (message) warnings.push(`${place.child('key').toString()}: ${key} is ${message}`);
    if (!withValues || !values) continue;
    for (const [number, value] of values.entries()) {
      for (const fault of validateLabelValue(value)) {
        warnings.push(`${place.child('values').index(number).toString()}: ${value} is invalid, ${fault}`);
      }
    }
  }
}

/** Addresses and secrets that are named twice, or not at all. */
function warnReferences({ hostAliases = [], imagePullSecrets = [] }: PodSpec, at: FieldPath, warnings: string[]): void {
  const addresses = new Set<string | undefined>();
  for (const [index, { ip }] of hostAliases.entries()) {
    if (!addresses.has(ip)) {
      addresses.add(ip);
      continue;
    }
    warnings.push(`${at.child('hostAliases').index(index).child('ip').toString()}: duplicate ip ${JSON.stringify(ip)}`);
  }
  const place = at.child('imagePullSecrets');
  const names = new Set<string>();
  for (const [index, { name = '' }] of imagePullSecrets.entries()) {
    if (!names.has(name)) {
      names.add(name);
      continue;
    }
    warnings.push(`${place.index(index).child('name').toString()}: duplicate name ${JSON.stringify(name)}`);
  }
  for (const [index, { name }] of imagePullSecrets.entries()) {
    if (!name) warnings.push(`${place.index(index).child('name').toString()}: invalid empty name ""`);
  }
}

function warnSelectors({ podAffinity, podAntiAffinity }: Affinity, at: FieldPath, warnings: string[]): void {
  for (const [key, affinity] of [
    ['podAffinity', podAffinity],
    ['podAntiAffinity', podAntiAffinity],
  ] as const) {
    const warn = (term: PodAffinityTerm & { labelSelector?: LabelSelector }, place: FieldPath): void => {
      if (!term.labelSelector) warnings.push(`${place.child('labelSelector').toString()}: ${NULL_SELECTOR}`);
    };
    const required = at.child(key).child('requiredDuringSchedulingIgnoredDuringExecution');
    for (const [index, term] of (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      warn(term, required.index(index));
    }
    const preferred = at.child(key).child('preferredDuringSchedulingIgnoredDuringExecution');
    for (const [index, term] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      warn(term.podAffinityTerm, preferred.index(index).child('podAffinityTerm'));
    }
  }
}

function warnAddresses({ dnsConfig, hostAliases }: PodSpec, at: FieldPath, warnings: string[]): void {
  for (const [index, address] of (dnsConfig?.nameservers ?? []).entries()) {
    warnings.push(...ipWarnings(address, at.child('dnsConfig').child('nameservers').index(index).toString()));
  }
  for (const [index, { ip }] of (hostAliases ?? []).entries()) {
    warnings.push(...ipWarnings(ip, at.child('hostAliases').index(index).child('ip').toString()));
  }
}
