import type { Taint } from '../api/index.ts';
import type { FreeNode } from './summarize-nodes.ts';

/** Nodes that a scheduler cannot tell apart by what is told of their labels and taints. */
export interface Pool {
  labels: Record<string, string>;
  taints: readonly Taint[];
  /** Indexes of the nodes. */
  members: Uint32Array;
}

export interface Pools {
  /** What all nodes have. */
  labels: Record<string, string>;
  unlistedLabels: string[];
  pools: Pool[];
}

const MAX_POOLS = 16;
/** A CRD's status is kept and sent whole, and tools that describe hardware set hundreds. */
const MAX_COMMON_LABELS = 64;
const MAX_UNLISTED = 64;

/** One node alone has it, so it parts nothing. */
const HOST_NAME = 'kubernetes.io/hostname';

/** Labels by which pods choose nodes most, so they are told before others. */
const WELL_KNOWN = [
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
];

/**
 * Parts the nodes by taints and by as many labels as give no more than {@link MAX_POOLS} pools: first the well-known ones, then
 * those with fewer values. Nodes whose taints are of the rarer sort are left out where there are too many sorts, so that what
 * is told is never too much.
 */
export function poolNodes(nodes: readonly FreeNode[]): Pools {
  const byTaints = Map.groupBy(nodes.keys(), (index) => taintsKey(nodes[index]?.taints ?? []));
  let parts = [...byTaints.values()].toSorted((a, b) => b.length - a.length).slice(0, MAX_POOLS);
  const labels: Record<string, string> = {};
  const telling: string[] = [];
  const unlisted: string[] = [];
  for (const { key, common } of labelKeys(nodes)) {
    if (common !== undefined) {
      if (Object.keys(labels).length < MAX_COMMON_LABELS) labels[key] = common;
      else unlisted.push(key);
      continue;
    }
    const finer = key === HOST_NAME ? undefined : partBy(parts, (index) => nodes[index]?.labels[key]);
    if (finer) {
      parts = finer;
      telling.push(key);
    } else {
      unlisted.push(key);
    }
  }
  return {
    labels,
    unlistedLabels: unlisted.length > MAX_UNLISTED ? ['*', ...unlisted.slice(0, MAX_UNLISTED)] : unlisted.sort(),
    pools: parts.map((members) => poolOf(nodes, members, telling)),
  };
}

function poolOf(nodes: readonly FreeNode[], members: readonly number[], telling: readonly string[]): Pool {
  const sample = nodes[members[0] ?? 0];
  const own = telling.flatMap((key) => {
    const value = sample?.labels[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    labels: Object.fromEntries(own),
    taints: repelling(sample?.taints ?? []),
    members: Uint32Array.from(members),
  };
}

/** Undefined where the parts would be too many. */
function partBy(parts: readonly number[][], valueOf: (index: number) => string | undefined): number[][] | undefined {
  const finer: number[][] = [];
  for (const part of parts) {
    finer.push(...Map.groupBy(part, valueOf).values());
    if (finer.length > MAX_POOLS) return undefined;
  }
  return finer;
}

interface LabelKey {
  key: string;
  /** What every node has, where that is the same. */
  common: string | undefined;
  values: number;
}

function labelKeys(nodes: readonly FreeNode[]): LabelKey[] {
  const counts = new Map<string, { values: Set<string>; nodes: number }>();
  for (const { labels } of nodes) {
    for (const key in labels) {
      let count = counts.get(key);
      if (!count) counts.set(key, (count = { values: new Set(), nodes: 0 }));
      count.values.add(labels[key] ?? '');
      count.nodes += 1;
    }
  }
  const keys = [...counts].map(([key, count]): LabelKey => {
    const [first] = count.values;
    const common = count.values.size === 1 && count.nodes === nodes.length && key !== HOST_NAME ? first : undefined;
    return { key, common, values: count.values.size };
  });
  return keys.toSorted((a, b) => rank(a.key) - rank(b.key) || a.values - b.values || (a.key < b.key ? -1 : 1));
}

function rank(key: string): number {
  const at = WELL_KNOWN.indexOf(key);
  return at < 0 ? WELL_KNOWN.length : at;
}

/** `PreferNoSchedule` keeps nothing away. */
function repelling(taints: readonly Taint[]): Taint[] {
  return taints
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .map(({ key, value, effect }) => ({ key, ...(value ? { value } : {}), effect }))
    .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function textOf({ key, value = '', effect }: Taint): string {
  return `${key}=${value}:${effect}`;
}

function taintsKey(taints: readonly Taint[]): string {
  return repelling(taints).map(textOf).join(',');
}
