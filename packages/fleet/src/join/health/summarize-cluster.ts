import {
  addQuantities,
  type Container,
  formatQuantity,
  type Node,
  type ObjectMeta,
  type Pod,
  parseQuantity,
  type Quantity,
} from '@asterism/machinery';
import type { Cluster } from '../../api/index.ts';

type Status = NonNullable<Cluster['status']>;
type ResourceList = Readonly<Record<string, string | number>>;

/** What the nodes and pods of a cluster add up to. */
export type ClusterSummary = Required<Pick<Status, 'nodes' | 'podCIDRs'>> & Pick<Status, 'resources'>;

/**
 * Adds up nodes and pods. Capacity counts every node. Allocatable and allocated count the same nodes, those on which something
 * can be placed (ready, not cordoned), so that their difference is what is free; allocated is what the pods there that still
 * run ask for, as the scheduler counts it, and their number.
 */
export function summarizeCluster(nodes: readonly Node[], pods: readonly Pod[]): ClusterSummary {
  const usable = nodes.filter((node) => isReady(node) && node.spec?.unschedulable !== true);
  const names = new Set(usable.map((node) => node.metadata?.name));
  const running = pods.filter((pod) => names.has(pod.spec?.nodeName) && !isFinished(pod));
  const resources = said({
    capacity: said(sum(nodes.map((node) => node.status?.capacity))),
    allocatable: said(sum(usable.map((node) => node.status?.allocatable))),
    allocated: said(sum(running.map((pod) => ({ ...podRequests(pod), pods: 1 })))),
  });
  return {
    nodes: { total: nodes.length, ready: nodes.filter(isReady).length },
    ...(resources ? { resources } : {}),
    podCIDRs: [...new Set(nodes.flatMap((node) => node.spec?.podCIDRs ?? []))].sort(),
  };
}

/** The entries that say something; undefined where none does. */
function said<T>(entries: Record<string, T | undefined>): Record<string, T> | undefined {
  const kept = Object.entries(entries).filter((entry): entry is [string, T] => entry[1] !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Only what {@link summarizeCluster} reads, so that a watch over all pods costs little memory. */
export function trimPod({ metadata, spec, status }: Pod): Pod {
  return {
    metadata: identityOf(metadata),
    spec: {
      ...(spec?.nodeName === undefined ? {} : { nodeName: spec.nodeName }),
      ...(spec?.overhead === undefined ? {} : { overhead: spec.overhead }),
      ...(spec?.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(trimContainer) }),
      containers: (spec?.containers ?? []).map(trimContainer),
    },
    ...(status?.phase === undefined ? {} : { status: { phase: status.phase } }),
  };
}

function trimContainer({ name, resources, restartPolicy }: Container): Container {
  return {
    name,
    ...(resources?.requests === undefined ? {} : { resources: { requests: resources.requests } }),
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  };
}

/** As {@link trimPod}, for nodes. */
export function trimNode({ metadata, spec, status }: Node): Node {
  return {
    metadata: identityOf(metadata),
    spec: { podCIDRs: spec?.podCIDRs ?? [], unschedulable: spec?.unschedulable ?? false },
    status: {
      capacity: status?.capacity ?? {},
      allocatable: status?.allocatable ?? {},
      conditions: (status?.conditions ?? []).filter((condition) => condition.type === 'Ready'),
    },
  };
}

function identityOf({ name, namespace, uid, resourceVersion }: ObjectMeta = {}): ObjectMeta {
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/**
 * What a pod asks of its node (KEP-753): its containers and sidecars together, or more where an init container, with the
 * sidecars that started before it, asks for more; and its overhead.
 */
export function podRequests({ spec }: Pod): Record<string, string> {
  let sidecars: Totals = {};
  let starting: Totals = {};
  for (const container of spec?.initContainers ?? []) {
    const requests = totalsOf(container.resources?.requests);
    if (container.restartPolicy === 'Always') {
      sidecars = plus(sidecars, requests);
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, plus(sidecars, requests));
    }
  }
  const working = (spec?.containers ?? []).reduce(
    (total, container) => plus(total, totalsOf(container.resources?.requests)),
    sidecars,
  );
  return formatted(plus(larger(working, starting), totalsOf(spec?.overhead)));
}

function isReady(node: Node): boolean {
  return (
    node.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  );
}

function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

type Totals = Readonly<Record<string, Quantity>>;

function totalsOf(list: ResourceList | undefined): Totals {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}

function merged(a: Totals, b: Totals, both: (x: Quantity, y: Quantity) => Quantity): Totals {
  const result: Record<string, Quantity> = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    const present = result[name];
    result[name] = present === undefined ? amount : both(present, amount);
  }
  return result;
}

const plus = (a: Totals, b: Totals): Totals => merged(a, b, addQuantities);
const larger = (a: Totals, b: Totals): Totals => merged(a, b, (x, y) => (x.nanos >= y.nanos ? x : y));

function formatted(totals: Totals): Record<string, string> {
  return Object.fromEntries(
    Object.keys(totals)
      .sort()
      .map((name) => [name, formatQuantity(totals[name]!)]),
  );
}

function sum(lists: readonly (ResourceList | undefined)[]): Record<string, string> {
  const totals: Record<string, Quantity> = {};
  for (const list of lists) {
    for (const [name, amount] of Object.entries(list ?? {})) {
      const quantity = parseQuantity(amount);
      const present = totals[name];
      totals[name] = present === undefined ? quantity : addQuantities(present, quantity);
    }
  }
  return formatted(totals);
}
