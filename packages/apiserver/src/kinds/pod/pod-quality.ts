import { compareQuantities, parseQuantity, type Quantity } from '@asterism/machinery';
import { type Fields, listAt, optionalFields } from '../fields/draft-fields.ts';

const COUNTED = ['cpu', 'memory'];

/**
 * The quality of service class of a pod (`status.qosClass`): Guaranteed where every container's requests equal its limits for
 * both cpu and memory, BestEffort where there are none at all, Burstable between. What a pod says of itself as a whole counts
 * instead of what its containers say.
 */
export function qualityOfService(spec: Fields): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const ofPod = optionalFields(spec, 'resources');
  const isAlone = ofPod !== undefined && (hasAny(ofPod, 'requests') || hasAny(ofPod, 'limits'));
  const counted = isAlone ? [spec] : [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  let any = false;
  let guaranteed = true;
  for (const each of counted) {
    const resources = optionalFields(each, 'resources');
    const requests = optionalFields(resources, 'requests');
    const limits = optionalFields(resources, 'limits');
    for (const name of COUNTED) {
      const request = amount(requests?.[name]);
      const limit = amount(limits?.[name]);
      if (request || limit) any = true;
      if (!limit || (request && compareQuantities(request, limit) !== 0)) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function hasAny(resources: Fields, list: string): boolean {
  return Object.keys(optionalFields(resources, list) ?? {}).length > 0;
}

/** A quantity above zero. */
function amount(value: unknown): Quantity | undefined {
  if (typeof value !== 'string') return undefined;
  const quantity = parseQuantity(value);
  return quantity.nanos > 0n ? quantity : undefined;
}
