import {
  cloneJson,
  type Container,
  deepEqual,
  type NodeAffinity,
  type NodeSelectorTerm,
  orderedText,
  type Pod,
  type PodSpec,
  type Toleration,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateImagePadding } from '../pod-spec/validate-containers.ts';
import { ANNOTATIONS, validatePod, SPEC } from './validation.ts';
import { validateAnnotationUpdates, validatePodAnnotations } from '../pod-spec/validate-pod-annotations.ts';
import { validateTolerations } from '../pod-spec/validate-scheduling.ts';
import { internalForm, internalPodSpec } from '../validation/internal-form.ts';
import { unifiedDiff } from '../validation/unified-diff.ts';

const MUTABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
const LONGEST_DEADLINE = 2_147_483_647;

/** The rules of `ValidatePodUpdate`: of a pod that exists little may change. */
export function validatePodUpdate(pod: Pod, old: Pod, faults: Faults): void {
  const spec = specOf(pod);
  const before = specOf(old);
  validatePod(pod, faults);
  validatePodAnnotationUpdates(pod, old, faults);
  for (const list of ['containers', 'initContainers'] as const) {
    if (!validateImages(spec[list] ?? [], before[list] ?? [], SPEC.child(list), faults)) return;
  }
  if (!validateDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds, faults)) return;
  validateAddedTolerations(spec.tolerations ?? [], before.tolerations ?? [], faults);
  const gates = new Set((before.schedulingGates ?? []).map(({ name }) => name));
  for (const [index, { name }] of (spec.schedulingGates ?? []).entries()) {
    if (gates.has(name)) continue;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    faults.forbidden(SPEC.child('schedulingGates').index(index).child('name'), detail);
  }
  validateFixedFields(spec, before, faults);
}

export function specOf({ spec }: Pod): PodSpec {
  return spec ?? { containers: [] };
}

/** The rules of `ValidatePodSpecificAnnotationUpdates`. */
export function validatePodAnnotationUpdates(pod: Pod, old: Pod, faults: Faults): void {
  const annotations = pod.metadata?.annotations;
  validateAnnotationUpdates(annotations, old.metadata?.annotations, ANNOTATIONS, faults);
  validatePodAnnotations(annotations, specOf(pod), ANNOTATIONS, faults);
}

/** Whether the containers are as many as they were. */
function validateImages(now: readonly Container[], old: readonly Container[], at: FieldPath, faults: Faults): boolean {
  if (now.length !== old.length) {
    faults.forbidden(at, 'pod updates may not add or remove containers');
    return false;
  }
  for (const [index, container] of now.entries()) {
    const place = at.index(index);
    if (!container.image) faults.required(place.child('image'));
    else validateImagePadding(container, place, faults);
  }
  return true;
}

/** A deadline may be set, and then come nearer. */
function validateDeadline(now: number | undefined, old: number | undefined, faults: Faults): boolean {
  const at = SPEC.child('activeDeadlineSeconds');
  if (now === undefined) {
    if (old !== undefined) faults.invalid(at, null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (now < 0 || now > LONGEST_DEADLINE) {
    faults.invalid(at, now, `must be between 0 and ${LONGEST_DEADLINE}, inclusive`);
    return false;
  }
  if (old === undefined || now <= old) return true;
  faults.invalid(at, now, 'must be less than or equal to previous value');
  return false;
}

function validateAddedTolerations(now: readonly Toleration[], old: readonly Toleration[], faults: Faults): void {
  const at = SPEC.child('tolerations');
  const rest = ({ tolerationSeconds: _seconds, ...toleration }: Toleration): string => orderedText(toleration);
  const isKept = deepEqual(now, old) || new Set(old.map(rest)).isSubsetOf(new Set(now.map(rest)));
  if (isKept) validateTolerations(now, at, faults);
  else faults.forbidden(at, 'existing toleration can not be modified except its tolerationSeconds');
}

/** What none of the rules before speaks of has to stay as it was. */
function validateFixedFields(spec: PodSpec, old: PodSpec, faults: Faults): void {
  const munged: PodSpec = {
    ...spec,
    containers: withImages(spec.containers, old.containers),
    ...(spec.initContainers ? { initContainers: withImages(spec.initContainers, old.initContainers ?? []) } : {}),
  };
  for (const key of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'] as const) keep(munged, old, key);
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1) {
    keep(munged, old, 'terminationGracePeriodSeconds');
  }
  if (old.schedulingGates?.length) validateGated(munged, old, faults);
  if (deepEqual(munged, old)) return;
  const changes = unifiedDiff(internalPodSpec(old), internalPodSpec(munged));
  if (changes === '') return;
  faults.forbidden(SPEC, `pod updates may not change fields other than ${MUTABLE}\n${changes}`);
}

function withImages(now: readonly Container[], old: readonly Container[]): Container[] {
  return now.map((container, index) => {
    const { image: _, ...rest } = container;
    const image = old[index]?.image;
    return image === undefined ? rest : { ...rest, image };
  });
}

function keep<Key extends keyof PodSpec>(spec: PodSpec, old: PodSpec, key: Key): void {
  if (old[key] === undefined) delete spec[key];
  else spec[key] = old[key];
}

/** Until a pod may be scheduled, it may still become choosier about its node. */
function validateGated(munged: PodSpec, old: PodSpec, faults: Faults): void {
  const selector = munged.nodeSelector ?? {};
  if (!deepEqual(selector, old.nodeSelector ?? {})) {
    if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => selector[key] !== value)) {
      const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
      faults.invalid(SPEC.child('nodeSelector'), munged.nodeSelector ?? null, detail);
    }
    keep(munged, old, 'nodeSelector');
  }
  const now = munged.affinity?.nodeAffinity;
  const before = old.affinity?.nodeAffinity;
  if (deepEqual(now ?? null, before ?? null)) return;
  validateNodeAffinity(now, before, faults);
  const affinity = { ...munged.affinity };
  delete affinity.nodeAffinity;
  if (before) affinity.nodeAffinity = cloneJson(before);
  if (Object.keys(affinity).length > 0 || old.affinity) munged.affinity = affinity;
  else delete munged.affinity;
}

function validateNodeAffinity(now: NodeAffinity | undefined, old: NodeAffinity | undefined, faults: Faults): void {
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return;
  const terms = now?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const at = SPEC.child('affinity')
    .child('nodeAffinity')
    .child('requiredDuringSchedulingIgnoredDuringExecution')
    .child('nodeSelectorTerms');
  if (terms.length !== before.length) {
    const value = terms.length > 0 ? terms.map((term) => internalForm('NodeSelectorTerm', term)) : null;
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    if (value) faults.invalidStruct(at, value, detail);
    else faults.invalid(at, null, detail);
    return;
  }
  for (const [index, term] of terms.entries()) {
    if (onlyAdds(term, before[index] ?? {})) continue;
    const detail = 'only additions are allowed (no mutations or deletions)';
    faults.invalidStruct(at.index(index), internalForm('NodeSelectorTerm', term), detail);
  }
}

function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const count = (each: NodeSelectorTerm): number =>
    (each.matchExpressions?.length ?? 0) + (each.matchFields?.length ?? 0);
  // A term without requirements takes no node; with one it would take some.
  if (count(old) === 0 && count(term) > 0) return false;
  return (['matchExpressions', 'matchFields'] as const).every((list) =>
    new Set((old[list] ?? []).map(orderedText)).isSubsetOf(new Set((term[list] ?? []).map(orderedText))),
  );
}
