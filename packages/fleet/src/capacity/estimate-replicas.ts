import { untoleratedTaint } from '../place/tolerations.ts';
import type { Amounts } from './amounts.ts';
import { matchesClaim, type NodeClaim } from './node-claim.ts';
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
export function estimateReplicas({ requests, claim = {} }: ReplicaNeeds, capacity: NodeCapacity): number {
  const needed = Object.entries(requests).filter(([name, amount]) => amount > 0 && name !== 'pods');
  const each = [['pods', 1] as const, ...needed].map(
    ([name, amount]) => [capacity.resources.indexOf(name), amount] as const,
  );
  if (each.some(([column]) => column < 0)) return 0;
  const unlisted = new Set(capacity.unlistedLabels);
  const isUnlisted = (key: string): boolean => unlisted.has(key) || (unlisted.has('*') && !isListed(key));
  const isListed = (key: string): boolean =>
    capacity.labels?.[key] !== undefined || capacity.pools.some(({ labels }) => labels?.[key] !== undefined);
  let sure = 0;
  let perhaps = 0;
  for (const { labels, taints, grades } of capacity.pools) {
    if (untoleratedTaint(taints, claim.tolerations)) continue;
    const match = matchesClaim(claim, { ...capacity.labels, ...labels }, isUnlisted);
    if (match === 'no') continue;
    for (const { nodes, free } of grades) {
      const fits = fitsInto(free, each);
      if (match === 'yes') sure += nodes * fits;
      else perhaps = Math.max(perhaps, fits);
    }
  }
  return sure + perhaps;
}

function fitsInto(free: readonly number[], each: readonly (readonly [column: number, amount: number])[]): number {
  let fits = Number.POSITIVE_INFINITY;
  for (const [column, amount] of each) fits = Math.min(fits, Math.floor((free[column] ?? 0) / amount));
  return fits;
}
