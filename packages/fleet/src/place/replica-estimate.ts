import type { Cluster } from '../api/index.ts';
import { estimateReplicas, readAmount } from '../capacity/index.ts';
import type { Workload } from './workload.ts';

type Status = NonNullable<Cluster['status']>;
/** What a cluster says of what it can take. */
type Room = Pick<Status, 'resources' | 'nodeCapacity'>;

/** How many more pods a cluster can hold, from what it says of what it can take. */
export type ReplicaEstimate = (status: Room | undefined) => number;

/**
 * An estimate for pods with these requests and claims on nodes. By the grades of a cluster's nodes, where it tells them, which is
 * never too much; else from its sums alone: the least, over the resources that are asked for, of what is free divided by the
 * request, and never more than the pods that it still admits. The cost does not depend on the number of its nodes.
 *
 * A resource that the cluster does not have gives 0, and so does a cluster that gave no account. A request of 0 is no request.
 */
export function replicaEstimate({ requirements, claim }: Pick<Workload, 'requirements' | 'claim'>): ReplicaEstimate {
  const amountOf = amounts();
  const requests = Object.fromEntries(
    Object.entries(requirements)
      .map(([resource, text]) => [resource, amountOf(resource, text)] as const)
      .filter(([, request]) => request > 0),
  );
  const free = ({ allocatable, allocated }: NonNullable<Room['resources']>, resource: string): number => {
    const all = allocatable?.[resource];
    return all === undefined ? 0 : amountOf(resource, all) - amountOf(resource, allocated?.[resource] ?? '0');
  };
  return (status) => {
    if (status?.nodeCapacity) return estimateReplicas({ requests, claim }, status.nodeCapacity);
    const { resources } = status ?? {};
    if (!resources) return 0;
    let available = free(resources, 'pods');
    for (const [resource, request] of Object.entries(requests)) {
      if (available <= 0) return 0;
      available = Math.min(available, Math.floor(free(resources, resource) / request));
    }
    return Math.max(0, available);
  };
}

/** Clusters of a fleet resemble each other, so a text is read once. */
function amounts(): (resource: string, text: string) => number {
  const known = { cpu: new Map<string, number>(), other: new Map<string, number>() };
  return (resource, text) => {
    const read = resource === 'cpu' ? known.cpu : known.other;
    const present = read.get(text);
    if (present !== undefined) return present;
    const amount = readAmount(resource, text);
    read.set(text, amount);
    return amount;
  };
}
