import { untoleratedTaint } from './tolerations.ts';
import type { Amounts } from './amounts.ts';
import { type Match, matchesClaim, type NodeClaim } from './node-claim.ts';
import type { NodeCapacity } from './summarize-nodes.ts';

/** What one replica needs: an amount of each resource (1 of `pods` goes without saying), and which nodes it may go to. */
export interface ReplicaNeeds {
  requests: Amounts;
  claim?: NodeClaim | undefined;
}

/**
 * How many replicas the nodes have room for: over the grades, the number of nodes times what fits into the least of them.
 *
 * E1  Never more than what is counted node by node, of the nodes as they were when they were summarized; the same, where each
 *     node has a grade of its own.
 * E2  Linear in the grades, so it costs the same for ten nodes and for ten thousand.
 * E3  A claim on labels that are not told (`kubernetes.io/hostname`) may be met by one node only: so many count as fit into
 *     the roomiest that may be meant. Here alone the answer may be too high.
 */
export function estimateReplicas(needs: ReplicaNeeds, capacity: NodeCapacity): number {
  return replicaCounter(needs)(capacity);
}

/** {@link estimateReplicas} for many clusters: reads the needs once. */
export function replicaCounter({ requests, claim = {} }: ReplicaNeeds): (capacity: NodeCapacity) => number {
  const needed = Object.entries(requests).filter(([name, amount]) => amount > 0 && name !== 'pods');
  const each = [['pods', 1] as const, ...needed];
  const names = each.map(([name]) => name);
  const amounts = each.map(([, amount]) => amount);
  const demandsLabels = claim.nodeSelector !== undefined || claim.terms !== undefined;
  return (capacity) => {
    const columns = names.map((name) => capacity.resources.indexOf(name));
    if (columns.includes(-1)) return 0;
    const match = demandsLabels ? labelMatch(claim, capacity) : () => 'yes' as const;
    let sure = 0;
    let perhaps = 0;
    for (const { labels, taints, grades } of capacity.pools) {
      if (taints && untoleratedTaint(taints, claim.tolerations)) continue;
      const matches = match(labels);
      if (matches === 'no') continue;
      if (matches === 'yes') sure += sumOf(grades, columns, amounts);
      else for (const { free } of grades) perhaps = Math.max(perhaps, fitsInto(free, columns, amounts));
    }
    return sure + perhaps;
  };
}

type Pool = NodeCapacity['pools'][number];

function labelMatch(claim: NodeClaim, capacity: NodeCapacity): (labels: Pool['labels']) => Match {
  const unlisted = new Set(capacity.unlistedLabels);
  const isListed = (key: string): boolean =>
    capacity.labels?.[key] !== undefined || capacity.pools.some(({ labels }) => labels?.[key] !== undefined);
  const isUnlisted = (key: string): boolean => unlisted.has(key) || (unlisted.has('*') && !isListed(key));
  return (labels) => matchesClaim(claim, { ...capacity.labels, ...labels }, isUnlisted);
}

function sumOf(grades: Pool['grades'], columns: readonly number[], amounts: readonly number[]): number {
  let sum = 0;
  for (const { nodes, free } of grades) sum += nodes * fitsInto(free, columns, amounts);
  return sum;
}

/** How many fit into a node that has so much free: asked of each grade of each cluster, so without a detour. */
function fitsInto(free: readonly number[], columns: readonly number[], amounts: readonly number[]): number {
  let fits = Number.POSITIVE_INFINITY;
  for (let index = 0; index < columns.length; index += 1) {
    const share = (free[columns[index] as number] ?? 0) / (amounts[index] as number);
    if (share < fits) fits = share;
  }
  return Math.floor(fits);
}
