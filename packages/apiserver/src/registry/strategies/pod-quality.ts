import { compareQuantities, parseQuantity } from '@asterism/machinery';
import { type Fields, listAt, optionalFields } from './draft-fields.ts';

const COUNTED = ['cpu', 'memory'];

/**
 * The quality of service class of a pod (`status.qosClass`): Guaranteed where every container's requests equal its limits for
 * both cpu and memory, BestEffort where there are none at all, Burstable between.
 */
export function qualityOfService(spec: Fields): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  let any = false;
  let guaranteed = true;
  for (const container of containers) {
    const resources = optionalFields(container, 'resources');
    const requests = optionalFields(resources, 'requests') ?? {};
    const limits = optionalFields(resources, 'limits') ?? {};
    for (const name of COUNTED) {
      const request = amount(requests[name]);
      const limit = amount(limits[name]);
      if (request || limit) any = true;
      if (!limit || (request && compareQuantities(request, limit) !== 0)) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** A quantity above zero. */
function amount(value: unknown): ReturnType<typeof parseQuantity> | undefined {
  if (typeof value !== 'string') return undefined;
  const quantity = parseQuantity(value);
  return compareQuantities(quantity, parseQuantity('0')) > 0 ? quantity : undefined;
}
