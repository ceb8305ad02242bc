import type { Cluster, Taint } from '../api/index.ts';
import type { Amounts } from './amounts.ts';
import { type Grade, gradeNodes } from './grade-nodes.ts';
import { poolNodes } from './pool-nodes.ts';

export type NodeCapacity = NonNullable<NonNullable<Cluster['status']>['nodeCapacity']>;

/** A node that work can go to, with what is free on it. */
export interface FreeNode {
  name: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  /** Not below 0. */
  free: Amounts;
}

/** More grades make estimates better and the status larger: 64 of five resources are some 3 KB. */
const MAX_GRADES = 64;
const MAX_RESOURCES = 16;
/** Those that are told before any other. */
const FIRST_RESOURCES = ['cpu', 'memory', 'pods', 'ephemeral-storage'];

/**
 * What is free on many nodes, told in few figures, so that `estimateReplicas` need not know the nodes.
 *
 * N1  Each node that is told of stands in one grade, whose figures are no larger than what is free on it: what is counted
 *     from the grades is never more than what is counted node by node.
 * N2  At most {@link MAX_GRADES} grades, whatever the number of nodes; with no more nodes than that the figures are exact.
 * N3  The same nodes in any order give the same summary.
 */
export function summarizeNodes(nodes: readonly FreeNode[]): NodeCapacity {
  const inOrder = nodes.toSorted((a, b) => compare(a.name, b.name));
  const resources = resourcesOf(inOrder);
  const { labels, unlistedLabels, pools } = poolNodes(inOrder);
  const columns = resources.map((name) => Float64Array.from(inOrder, ({ free }) => Math.floor(free[name] ?? 0)));
  const graded = gradeNodes(
    columns,
    pools.map(({ members }) => members),
    MAX_GRADES,
  );
  return {
    resources,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(unlistedLabels.length > 0 ? { unlistedLabels } : {}),
    pools: pools.map((pool, index) => ({
      ...(Object.keys(pool.labels).length > 0 ? { labels: pool.labels } : {}),
      ...(pool.taints.length > 0 ? { taints: [...pool.taints] } : {}),
      nodes: pool.members.length,
      grades: (graded[index] ?? []).toSorted(roomiestFirst),
    })),
  };
}

/** Resources of which there is something free, the common ones first. */
function resourcesOf(nodes: readonly FreeNode[]): string[] {
  const names = new Set<string>();
  for (const { free } of nodes) for (const name in free) if ((free[name] ?? 0) > 0) names.add(name);
  const first = FIRST_RESOURCES.filter((name) => names.has(name));
  const rest = [...names].filter((name) => !first.includes(name)).sort(compare);
  return [...first, ...rest].slice(0, MAX_RESOURCES);
}

function roomiestFirst(a: Grade, b: Grade): number {
  const at = a.free.findIndex((amount, index) => amount !== b.free[index]);
  return at < 0 ? b.nodes - a.nodes : (b.free[at] ?? 0) - (a.free[at] ?? 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
