import { type Container, deepEqual, type Pod, type PodSpec } from '@asterism/machinery';
import type { Fields } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { qualityOfService } from './pod-quality.ts';
import { validatePod, SPEC } from './validation.ts';
import { MIRROR } from '../pod-spec/validate-pod-annotations.ts';
import { validatePodAnnotationUpdates, specOf } from './validate-pod-update.ts';
import { internalForm } from '../validation/internal-form.ts';
import { unifiedDiff } from '../validation/unified-diff.ts';

/** The rules of `ValidatePodEphemeralContainersUpdate`: such containers come, and stay as they came. */
export function validateEphemeralContainers(pod: Pod, old: Pod, faults: Faults): void {
  if (isMirror(old)) return refuse('static pods do not support ephemeral containers', faults);
  validatePod(pod, faults);
  validatePodAnnotationUpdates(pod, old, faults);
  const now = new Map((specOf(pod).ephemeralContainers ?? []).map((each) => [each.name, each]));
  const at = SPEC.child('ephemeralContainers');
  for (const container of specOf(old).ephemeralContainers ?? []) {
    const named = `existing ephemeral containers ${JSON.stringify(container.name)}`;
    const found = now.get(container.name);
    if (!found) faults.forbidden(at, `${named} may not be removed\n`);
    else if (!deepEqual(found, container)) {
      const forms = [container, found].map((each) => internalForm('EphemeralContainer', each)) as [Fields, Fields];
      faults.forbidden(at, `${named} may not be changed\n${unifiedDiff(...forms)}`);
    }
  }
}

function isMirror({ metadata }: Pod): boolean {
  return metadata?.annotations !== undefined && MIRROR in metadata.annotations;
}

/** The one fault of a pod that the endpoint has nothing to do with. */
function refuse(why: string, faults: Faults): void {
  faults.add({ type: 'FieldValueForbidden', field: '', message: `Forbidden: ${why}` });
}

/** The rules of `ValidatePodResize`: what a pod's containers may use, while they run. */
export function validateResize(pod: Pod, old: Pod, faults: Faults): void {
  if (isMirror(old)) return refuse('static pods cannot be resized', faults);
  const spec = specOf(pod);
  const before = specOf(old);
  if (before.os?.name === 'windows') return refuse('windows pods cannot be resized', faults);
  validatePod(pod, faults);
  const quality = old.status?.qosClass ?? qualityOfService(before as unknown as Fields);
  if (qualityOfService(spec as unknown as Fields) !== quality) {
    faults.invalid(SPEC, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  }
  if ((old.status?.containerStatuses ?? []).some(({ state, resources }) => state?.running && !resources)) {
    faults.forbidden(SPEC, 'Pod running on node without support for resize');
  }
  if (!validateSameContainers(spec, before, faults)) return;
  validateNothingRemoved(spec, before, 'containers', faults);
  validateNothingRemoved(spec, before, 'initContainers', faults);
  validateOnlyComputing(spec, before, faults);
}

function validateSameContainers(spec: PodSpec, old: PodSpec, faults: Faults): boolean {
  let same = true;
  for (const list of ['containers', 'initContainers'] as const) {
    const now = spec[list] ?? [];
    const before = old[list] ?? [];
    const what =
      now.length !== before.length
        ? 'added or removed'
        : now.some(({ name }, index) => name !== before[index]?.name)
          ? 'renamed or reordered'
          : undefined;
    if (!what) continue;
    same = false;
    faults.forbidden(SPEC, `${list} may not be ${what} on resize`);
  }
  return same;
}

function validateNothingRemoved(
  spec: PodSpec,
  old: PodSpec,
  list: 'containers' | 'initContainers',
  faults: Faults,
): void {
  for (const [index, { resources: before, restartPolicy }] of (old[list] ?? []).entries()) {
    // Others are done before anything could be resized.
    if (list === 'initContainers' && restartPolicy !== 'Always') continue;
    const now = spec[list]?.[index]?.resources;
    const at = (): FieldPath => SPEC.child(list).index(index).child('resources');
    for (const kind of ['requests', 'limits'] as const) {
      const isRemoved = Object.keys(before?.[kind] ?? {}).some((name) => now?.[kind]?.[name] === undefined);
      if (isRemoved) faults.forbidden(at().child(kind), `resource ${kind} cannot be removed`);
    }
  }
}

function validateOnlyComputing(spec: PodSpec, old: PodSpec, faults: Faults): void {
  for (const [index, container] of spec.containers.entries()) {
    if (!isSameBesides(container, old.containers[index])) {
      faults.forbidden(SPEC, 'only cpu and memory resources are mutable');
    }
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const before = old.initContainers?.[index];
    if (container.restartPolicy === 'Always') {
      if (!isSameBesides(container, before)) faults.forbidden(SPEC, 'only cpu and memory resources are mutable');
    } else if (!deepEqual(container, before)) {
      faults.forbidden(SPEC, 'resources for non-sidecar init containers are immutable');
    }
  }
}

/** Whether two containers differ in nothing but what they use of cpu and memory. */
function isSameBesides(container: Container, old: Container | undefined): boolean {
  return old !== undefined && deepEqual(besidesComputing(container), besidesComputing(old));
}

function besidesComputing(whole: Container): object {
  const { resources, resizePolicy: _policy, ...container } = whole;
  const others = (list: Readonly<Record<string, unknown>> = {}): object => {
    const { cpu: _cpu, memory: _memory, ...rest } = list;
    return rest;
  };
  const { requests, limits, claims = [] } = resources ?? {};
  return { ...container, requests: others(requests), limits: others(limits), claims };
}
