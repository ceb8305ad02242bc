import { formatQuantity, parseQuantity, subtractQuantities } from '@asterism/machinery';
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
  const { amountOf, differenceOf } = amounts();
  const requests = Object.fromEntries(
    Object.entries(requirements)
      .map(([resource, text]) => [resource, amountOf(resource, text)] as const)
      .filter(([, request]) => request > 0),
  );
  const free = ({ allocatable, allocated }: NonNullable<Room['resources']>, resource: string): number => {
    const all = allocatable?.[resource];
    return all === undefined ? 0 : differenceOf(resource, all, allocated?.[resource] ?? '0');
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

interface Amount {
  rounded: number;
  /** Nothing was rounded. */
  whole: boolean;
}

/** Amounts as {@link readAmount} has them, and differences of exact ones. Clusters of a fleet resemble each other: a text is read once. */
function amounts() {
  const known = { cpu: new Map<string, Amount>(), other: new Map<string, Amount>() };
  const read = (resource: string, text: string): Amount => {
    const texts = resource === 'cpu' ? known.cpu : known.other;
    const present = texts.get(text);
    if (present) return present;
    const unit = resource === 'cpu' ? NANOS_IN_MILLI : NANOS;
    const amount = { rounded: readAmount(resource, text), whole: parseQuantity(text).nanos % unit === 0n };
    texts.set(text, amount);
    return amount;
  };
  return {
    amountOf: (resource: string, text: string): number => read(resource, text).rounded,
    /** Rounded up after the subtraction, not before it. */
    differenceOf: (resource: string, all: string, taken: string): number => {
      const [a, b] = [read(resource, all), read(resource, taken)];
      if (a.whole && b.whole) return a.rounded - b.rounded;
      const difference = subtractQuantities(parseQuantity(all), parseQuantity(taken));
      return readAmount(resource, formatQuantity(difference));
    },
  };
}

const NANOS_IN_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;
