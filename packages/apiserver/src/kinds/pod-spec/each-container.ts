import type { Container, EphemeralContainer, PodSpec } from '@asterism/machinery';
import type { FieldPath } from '../validation/field-path.ts';

/** The lists of containers, in the order in which upstream visits them. */
const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Visits every container of a pod; its place is made only where it is asked for. `at` is that of the spec. */
export function eachContainer(
  spec: PodSpec,
  at: FieldPath,
  visit: (container: Container | EphemeralContainer, place: () => FieldPath) => void,
): void {
  for (const list of LISTS) {
    const containers = spec[list];
    if (!containers) continue;
    for (const [index, container] of containers.entries()) visit(container, () => at.child(list).index(index));
  }
}
