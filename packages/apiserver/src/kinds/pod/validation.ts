import type { Pod, PodSpec } from '@asterism/machinery';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { checkImagePadding } from '../pod-spec/validate-containers.ts';
import { checkPodAnnotations, checkProfileAnnotations } from '../pod-spec/validate-pod-annotations.ts';
import { checkPodSpec } from '../pod-spec/validate-pod-spec.ts';

export const SPEC = FieldPath.of('spec');
export const ANNOTATIONS = FieldPath.of('metadata').child('annotations');

/** The rules of `validatePodMetadataAndSpec`, besides those that all metadata has. */
export function checkPod({ metadata, spec = { containers: [] } }: Pod, faults: Faults): void {
  checkPodAnnotations(metadata?.annotations, spec, ANNOTATIONS, faults);
  const { name = '', annotations } = metadata ?? {};
  checkPodSpec(spec, { name, ...(annotations ? { annotations } : {}) }, SPEC, faults);
  if (!spec.serviceAccountName) checkNoTokens(spec, faults);
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      checkImagePadding(container, SPEC.child(list).index(index), faults);
    }
  }
}

function checkNoTokens({ volumes = [] }: PodSpec, faults: Faults): void {
  for (const [index, { projected }] of volumes.entries()) {
    for (const [number, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const source = SPEC.child('volumes').index(index).child('projected').child('sources').index(number);
      faults.forbidden(source.child('serviceAccountToken'), 'must not be specified when serviceAccountName is not set');
    }
  }
}

/** The rules of `ValidatePodCreate`. */
export function checkNewPod(pod: Pod, faults: Faults): void {
  const { spec = { containers: [] }, metadata } = pod;
  checkPod(pod, faults);
  if (spec.ephemeralContainers?.length) {
    faults.forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create');
  }
  if (spec.nodeName && spec.schedulingGates?.length) {
    faults.forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
  }
  checkProfileAnnotations(metadata?.annotations, spec, SPEC, faults);
}
