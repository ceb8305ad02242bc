import { formatQuantity, parseQuantity, subtractQuantities } from '@asterism/machinery';
import type { Cluster } from '../api/index.ts';
import { readAmount, replicaCounter } from '../capacity/index.ts';
import { Remembered } from './remembered.ts';
import type { Workload } from '../template/workload.ts';

type Status = NonNullable<Cluster['status']>;
/** What a cluster says of what it can take. */
type Room = Pick<Status, 'resources' | 'nodeCapacity'>;
type Resources = NonNullable<Status['resources']>;
type NodeCapacity = NonNullable<Status['nodeCapacity']>;
type Needs = Pick<Workload, 'requirements' | 'claim'>;

/** How many more pods a cluster can hold, from what it says of what it can take. */
export type ReplicaEstimate = (status: Room | undefined) => number;

/** Templates that ask for the same are many, those that do not are few. */
const NEEDS_REMEMBERED = 256;

/**
 * Estimates for pods with certain requests and claims on nodes. By the grades of a cluster's nodes, where it tells them, which is
 * never too much; else from its sums alone: the least, over the resources that are asked for, of what is free divided by the
 * request, and never more than the pods that it still admits. The cost does not depend on the number of its nodes.
 *
 * A resource that the cluster does not have gives 0, and so does a cluster that gave no account. A request of 0 is no request.
 *
 * What was read and counted is kept for as long as the cluster's account of itself is the same object, as it is in a cache.
 */
export class ReplicaEstimates {
  readonly #free = new WeakMap<Resources, FreeAmounts>();
  readonly #counts = new Remembered<NodeCapacity, number>(NEEDS_REMEMBERED);

  of({ requirements, claim }: Needs): ReplicaEstimate {
    const requests = Object.entries(requirements)
      .map(([resource, text]) => [resource, readAmount(resource, text)] as const)
      .filter(([, request]) => request > 0);
    const count = replicaCounter({ requests: Object.fromEntries(requests), claim });
    const counted = this.#counts.to(JSON.stringify([requests, claim]), count);
    return (status) => {
      if (status?.nodeCapacity) return counted(status.nodeCapacity);
      return status?.resources ? fitInto(this.#freeOf(status.resources), requests) : 0;
    };
  }

  #freeOf(resources: Resources): FreeAmounts {
    let free = this.#free.get(resources);
    if (!free) this.#free.set(resources, (free = new FreeAmounts(resources)));
    return free;
  }
}

function fitInto(free: FreeAmounts, requests: readonly (readonly [resource: string, request: number])[]): number {
  let available = free.of('pods');
  for (const [resource, request] of requests) {
    if (available <= 0) return 0;
    available = Math.min(available, Math.floor(free.of(resource) / request));
  }
  return Math.max(0, available);
}

/** What is free of each resource, each read when it is first asked for. */
class FreeAmounts {
  readonly #resources: Resources;
  readonly #amounts = new Map<string, number>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** 0 of a resource that is not there. */
  of(resource: string): number {
    let amount = this.#amounts.get(resource);
    if (amount === undefined) this.#amounts.set(resource, (amount = this.#read(resource)));
    return amount;
  }

  /** Rounded up after the subtraction, not before it. */
  #read(resource: string): number {
    const { allocatable, allocated } = this.#resources;
    const all = allocatable?.[resource];
    if (all === undefined) return 0;
    const taken = allocated?.[resource];
    if (taken === undefined || taken === '0') return readAmount(resource, all);
    const difference = subtractQuantities(parseQuantity(all), parseQuantity(taken));
    return readAmount(resource, formatQuantity(difference));
  }
}
