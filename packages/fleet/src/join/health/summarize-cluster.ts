import type { Cluster } from '../../api/index.ts';
import { type Amounts, addAmounts, formatAmount, formatAmounts, summarizeNodes } from '../../capacity/index.ts';
import type { NodeFacts, PodFacts } from './member-facts.ts';

type Status = NonNullable<Cluster['status']>;

/** What the nodes and pods of a cluster add up to. */
export type ClusterSummary = Required<Pick<Status, 'nodes' | 'pods' | 'podCIDRs' | 'nodeCapacity' | 'glance'>> &
  Pick<Status, 'resources'>;

/**
 * Adds up nodes and pods. Capacity counts every node. Allocatable and allocated count the same nodes, those on which something
 * can be placed (ready, not cordoned), so that their difference is what is free; allocated is what the pods there that still
 * run ask for, as the scheduler counts it, and their number. Requested is what all pods ask for that have not ended.
 */
export function summarizeCluster(nodes: readonly NodeFacts[], pods: readonly PodFacts[]): ClusterSummary {
  const usable = nodes.filter(({ facts }) => facts.ready && !facts.cordoned);
  const used = new Map<string, Record<string, number>>(usable.map(({ metadata }) => [metadata?.name ?? '', {}]));
  const requested: Record<string, number> = {};
  const phases = { Pending: 0, Running: 0, Succeeded: 0, Failed: 0, Unknown: 0 };
  for (const { facts } of pods) {
    phases[facts.phase] += 1;
    if (facts.phase === 'Succeeded' || facts.phase === 'Failed') continue;
    addPod(requested, facts.requests);
    const onNode = used.get(facts.node);
    if (onNode) addPod(onNode, facts.requests);
  }
  const allocatable = sum(usable.map(({ facts }) => facts.allocatable));
  const allocated = sum([...used.values()]);
  const resources = {
    capacity: formatAmounts(sum(nodes.map(({ facts }) => facts.capacity))),
    allocatable: formatAmounts(allocatable),
    allocated: formatAmounts(allocated),
    requested: formatAmounts(requested),
  };
  const ready = nodes.filter(({ facts }) => facts.ready).length;
  return {
    nodes: { total: nodes.length, ready, notReady: nodes.length - ready, schedulable: usable.length },
    pods: { running: phases.Running, pending: phases.Pending, max: allocatable['pods'] ?? 0 },
    ...(hasSome(resources) ? { resources } : {}),
    nodeCapacity: summarizeNodes(
      usable.map(({ metadata, facts: { labels, taints, allocatable: all } }) => {
        const name = metadata?.name ?? '';
        return { name, labels, taints, free: less(all, used.get(name) ?? {}) };
      }),
    ),
    podCIDRs: [...new Set(nodes.flatMap(({ facts }) => facts.podCIDRs))].sort(),
    glance: { nodes: `${ready}/${nodes.length}`, ...freeAtAGlance(less(allocatable, allocated)) },
  };
}

/** Removes what is undefined; whether anything is left. */
function hasSome(entries: Record<string, unknown>): entries is NonNullable<Status['resources']> {
  for (const [name, value] of Object.entries(entries)) if (value === undefined) delete entries[name];
  return Object.keys(entries).length > 0;
}

function addPod(sums: Record<string, number>, requests: Amounts): void {
  addAmounts(sums, requests);
  sums['pods'] = (sums['pods'] ?? 0) + 1;
}

function sum(lists: readonly Amounts[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const list of lists) addAmounts(total, list);
  return total;
}

/** Not below 0: a node may hold more than it has, by static pods and by pods that were there before. */
function less(all: Amounts, part: Amounts): Record<string, number> {
  return Object.fromEntries(
    Object.entries(all).map(([name, amount]) => [name, Math.max(0, amount - (part[name] ?? 0))]),
  );
}

const GIB = 2 ** 30;

/** Three digits: columns are read, not computed with. */
function freeAtAGlance(free: Amounts): { freeCPU?: string; freeMemory?: string } {
  const { cpu, memory } = free;
  return {
    ...(cpu === undefined ? {} : { freeCPU: digits(cpu / 1000) }),
    ...(memory === undefined ? {} : { freeMemory: memoryAtAGlance(memory) }),
  };
}

function memoryAtAGlance(bytes: number): string {
  if (bytes < GIB) return formatAmount('memory', Math.floor(bytes / 2 ** 20) * 2 ** 20);
  return bytes < 1024 * GIB ? `${digits(bytes / GIB)}Gi` : `${digits(bytes / GIB / 1024)}Ti`;
}

/** Rounded down: `3.99` cores free must not read as 4. */
function digits(value: number): string {
  const decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return String(Math.floor(value * 10 ** decimals) / 10 ** decimals);
}
