import type { Pod, PodSpec } from '@asterism/machinery';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateImagePadding } from '../pod-spec/validate-containers.ts';
import { validatePodAnnotations, validateProfileAnnotations } from '../pod-spec/validate-pod-annotations.ts';
import { validatePodSpec } from '../pod-spec/validate-pod-spec.ts';

export const SPEC = FieldPath.of('spec');
export const ANNOTATIONS = FieldPath.of('metadata').child('annotations');

/** The rules of `validatePodMetadataAndSpec`, besides those that all metadata has. */
export function validatePod({ metadata, spec = { containers: [] } }: Pod, faults: Faults): void {
  validatePodAnnotations(metadata?.annotations, spec, ANNOTATIONS, faults);
  const { name = '', annotations } = metadata ?? {};
  validatePodSpec(spec, { name, ...(annotations ? { annotations } : {}) }, SPEC, faults);
  if (!spec.serviceAccountName) validateNoTokens(spec, faults);
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      validateImagePadding(container, SPEC.child(list).index(index), faults);
    }
  }
}

function validateNoTokens({ volumes = [] }: PodSpec, faults: Faults): void {
  for (const [index, { projected }] of volumes.entries()) {
    for (const [number, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const source = SPEC.child('volumes').index(index).child('projected').child('sources').index(number);
      faults.forbidden(source.child('serviceAccountToken'), 'must not be specified when serviceAccountName is not set');
    }
  }
}

/** The rules of `ValidatePodCreate`. */
export function validateNewPod(pod: Pod, faults: Faults): void {
  const { spec = { containers: [] }, metadata } = pod;
  validatePod(pod, faults);
  if (spec.ephemeralContainers?.length) {
    faults.forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create');
  }
  if (spec.nodeName && spec.schedulingGates?.length) {
    faults.forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
  }
  validateProfileAnnotations(metadata?.annotations, spec, SPEC, faults);
}
