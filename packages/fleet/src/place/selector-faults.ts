import { type FieldError, fieldInvalid, type KubeObject } from '@asterism/machinery';
import type { ResourceSelector } from '../api/index.ts';
import { readLabelSelector } from './label-selector.ts';

/** Why a selector of a policy selects nothing. */
export interface SelectorFault {
  selector: ResourceSelector;
  fault: FieldError;
}

/**
 * What is wrong with the selectors of a policy of any kind, beyond what its schema can say: labels that cannot be read, where labels are
 * looked at, and a namespace that is not the policy's own, beyond which it does not reach. Such a selector selects nothing.
 */
export function selectorFaults({ kind, metadata, spec }: KubeObject): SelectorFault[] {
  const { resourceSelectors = [] } = (spec ?? {}) as { resourceSelectors?: readonly ResourceSelector[] };
  const own = metadata?.namespace;
  return resourceSelectors.flatMap((selector, index) => {
    const field = `spec.resourceSelectors[${index}]`;
    const { namespace, name, labelSelector } = selector;
    const faults: FieldError[] = [];
    if (own !== undefined && namespace && namespace !== own) {
      const why = `a policy of a namespace selects there alone: leave it out, or say "${own}"; for others there is the Cluster${kind}`;
      faults.push(fieldInvalid(`${field}.namespace`, namespace, why));
    }
    const read = labelSelector && !name ? readLabelSelector(labelSelector) : [];
    if ('fault' in read) faults.push(fieldInvalid(`${field}.labelSelector`, labelSelector, read.fault));
    return faults.map((fault) => ({ selector, fault }));
  });
}

export function formatFault({ fault: { field, message } }: SelectorFault): string {
  return `${field}: ${message}`;
}
