import {
  type Affinity,
  type LabelSelector,
  type NodeAffinity,
  type NodeSelector,
  type NodeSelectorRequirement,
  type NodeSelectorTerm,
  type PodAffinity,
  type PodAffinityTerm,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelKey,
  validateLabelValue,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector } from '../validation/validate-label-selector.ts';

export function validateAffinity(affinity: Affinity | undefined, at: FieldPath, faults: Faults): void {
  if (!affinity) return;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity) validateNodeAffinity(nodeAffinity, at.child('nodeAffinity'), faults);
  if (podAffinity) validatePodAffinity(podAffinity, at.child('podAffinity'), faults);
  if (podAntiAffinity) validatePodAffinity(podAntiAffinity, at.child('podAntiAffinity'), faults);
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateWeight(weight: number | undefined, at: FieldPath, faults: Faults): void {
  const value = weight ?? 0;
  if (value <= 0 || value > 100) faults.invalid(at.child('weight'), value, 'must be in the range 1-100');
}

function validateNodeAffinity(affinity: NodeAffinity, at: FieldPath, faults: Faults): void {
  const { [REQUIRED]: required, [PREFERRED]: preferred } = affinity;
  if (required) validateNodeSelector(required, at.child(REQUIRED), faults);
  for (const [index, { weight, preference }] of (preferred ?? []).entries()) {
    const place = at.child(PREFERRED).index(index);
    validateWeight(weight, place, faults);
    // Values that no label can have are let pass: a preference that is never met does no harm.
    validateNodeSelectorTerm(preference ?? {}, false, place.child('preference'), faults);
  }
}

/** `ValidateNodeSelector`. */
export function validateNodeSelector(selector: Partial<NodeSelector>, at: FieldPath, faults: Faults): void {
  const { nodeSelectorTerms } = selector;
  const place = at.child('nodeSelectorTerms');
  if (!nodeSelectorTerms?.length) return faults.required(place, 'must have at least one node selector term');
  for (const [index, term] of nodeSelectorTerms.entries()) {
    validateNodeSelectorTerm(term, true, place.index(index), faults);
  }
}

function validateNodeSelectorTerm(term: NodeSelectorTerm, withValues: boolean, at: FieldPath, faults: Faults): void {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    validateRequirement(requirement, withValues, at.child('matchExpressions').index(index), faults);
  }
  for (const [index, requirement] of (term.matchFields ?? []).entries()) {
    validateFieldRequirement(requirement, at.child('matchFields').index(index), faults);
  }
}

function validateRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  withValues: boolean,
  at: FieldPath,
  faults: Faults,
): void {
  const place = at.child('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) faults.required(place, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        faults.forbidden(place, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        faults.required(place, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      faults.invalid(at.child('operator'), operator ?? '', 'not a valid selector operator');
  }
  faults.invalidEach(at.child('key'), key, validateLabelKey(key));
  if (!withValues) return;
  for (const [index, value] of values.entries()) {
    faults.invalidEach(place.index(index), value, validateLabelValue(value));
  }
}

function validateFieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  at: FieldPath,
  faults: Faults,
): void {
  const place = at.child('values');
  if (operator !== 'In' && operator !== 'NotIn') {
    faults.invalid(at.child('operator'), operator ?? '', 'not a valid selector operator');
  } else if (values.length !== 1) {
    faults.required(place, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== 'metadata.name') return faults.invalid(at.child('key'), key, 'not a valid field selector key');
  for (const [index, value] of values.entries()) {
    faults.invalidEach(place.index(index), value, validateDns1123Subdomain(value));
  }
}

function validatePodAffinity(affinity: PodAffinity, at: FieldPath, faults: Faults): void {
  const { [REQUIRED]: required, [PREFERRED]: preferred } = affinity;
  for (const [index, term] of (required ?? []).entries()) validateTerm(term, at.child(REQUIRED).index(index), faults);
  for (const [index, { weight, podAffinityTerm }] of (preferred ?? []).entries()) {
    const place = at.child(PREFERRED).index(index);
    validateWeight(weight, place, faults);
    validateTerm(podAffinityTerm ?? {}, place.child('podAffinityTerm'), faults);
  }
}

function validateTerm(term: Partial<PodAffinityTerm>, at: FieldPath, faults: Faults): void {
  const { labelSelector, namespaceSelector, namespaces, matchLabelKeys, mismatchLabelKeys, topologyKey = '' } = term;
  validateLabelSelector(labelSelector, at.child('labelSelector'), faults);
  validateLabelSelector(namespaceSelector, at.child('namespaceSelector'), faults);
  for (const name of namespaces ?? []) faults.invalidEach(at.child('namespace'), name, validateDns1123Label(name));
  validateMatchLabelKeys({ matchLabelKeys, mismatchLabelKeys, labelSelector }, at, faults);
  const place = at.child('topologyKey');
  if (topologyKey === '') faults.required(place, 'can not be empty');
  faults.invalidEach(place, topologyKey, validateLabelKey(topologyKey));
}

/** `ValidateMatchLabelKeysAndMismatchLabelKeys`: the values of these labels join the selector when a pod is made. */
export function validateMatchLabelKeys(
  { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector }: MatchLabelKeys,
  at: FieldPath,
  faults: Faults,
): void {
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return;
  validateKeys(matchLabelKeys, labelSelector, at.child('matchLabelKeys'), faults);
  validateKeys(mismatchLabelKeys, labelSelector, at.child('mismatchLabelKeys'), faults);
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  const lastIndexes = new Map(matchLabelKeys.map((key, index) => [key, index]));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = lastIndexes.get(key) ?? -1;
    if (index >= 0 && selected.has(key)) {
      faults.invalid(at.index(index), key, 'exists in both matchLabelKeys and labelSelector');
    }
    selected.add(key);
  }
  const mismatching = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatching.has(key)) continue;
    const place = at.child('matchLabelKeys').index(index);
    faults.invalid(place, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  }
}

interface MatchLabelKeys {
  matchLabelKeys?: readonly string[] | undefined;
  mismatchLabelKeys?: readonly string[] | undefined;
  labelSelector: LabelSelector | undefined;
}

function validateKeys(
  keys: readonly string[],
  labelSelector: LabelSelector | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (keys.length === 0) return;
  if (!labelSelector) return faults.forbidden(at, 'must not be specified when labelSelector is not set');
  for (const [index, key] of keys.entries()) faults.invalidEach(at.index(index), key, validateLabelKey(key));
}
