import { milliValue, parseQuantity, quantityToNumber } from '@asterism/machinery';

/** What a cluster says of its resources (`status.resources`). */
export interface ResourceSummary {
  allocatable?: Readonly<Record<string, string>> | undefined;
  allocated?: Readonly<Record<string, string>> | undefined;
}

/** How many more pods a cluster can hold, from what it says of its resources. */
export type ReplicaEstimate = (resources: ResourceSummary | undefined) => number;

/**
 * An estimate for pods with these requests, from a cluster's sums alone: the least, over the resources that are asked for, of what
 * is free divided by the request, and never more than the pods that it still admits. The cost does not depend on the number of
 * its nodes.
 *
 * A resource that the cluster does not have gives 0, and so does a cluster that gave no account. A request of 0 is no request.
 */
export function replicaEstimate(requirements: Readonly<Record<string, string>>): ReplicaEstimate {
  const amountOf = amounts();
  const requests = Object.entries(requirements)
    .map(([resource, text]) => ({ resource, request: amountOf(resource, text) }))
    .filter(({ request }) => request > 0);
  const free = ({ allocatable, allocated }: ResourceSummary, resource: string): number => {
    const all = allocatable?.[resource];
    return all === undefined ? 0 : amountOf(resource, all) - amountOf(resource, allocated?.[resource] ?? '0');
  };
  return (resources) => {
    if (!resources) return 0;
    let available = free(resources, 'pods');
    for (const { resource, request } of requests) {
      if (available <= 0) return 0;
      available = Math.min(available, Math.floor(free(resources, resource) / request));
    }
    return Math.max(0, available);
  };
}

/**
 * Reads quantities as numbers: thousandths of cpu, whole units of all else; both are exact within a double for any real
 * cluster. Clusters of a fleet resemble each other, so a text is read once.
 */
function amounts(): (resource: string, text: string) => number {
  const known = { cpu: new Map<string, number>(), other: new Map<string, number>() };
  return (resource, text) => {
    const cpu = resource === 'cpu';
    const read = cpu ? known.cpu : known.other;
    const present = read.get(text);
    if (present !== undefined) return present;
    const quantity = parseQuantity(text);
    const amount = cpu ? milliValue(quantity) : Math.ceil(quantityToNumber(quantity));
    read.set(text, amount);
    return amount;
  };
}
