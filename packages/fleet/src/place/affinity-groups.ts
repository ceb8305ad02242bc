import type { Placement } from '../api/index.ts';
import type { TieredAffinity } from './cluster-affinity.ts';
import { strategyOf } from './divide-replicas.ts';

/** One attempt to place a template; without an affinity any cluster is meant. */
export interface AffinityGroup {
  affinity?: TieredAffinity;
  affinityName?: string;
}

/**
 * The groups of clusters to try, in order: from the current one on, since an earlier one does not come back by itself.
 *
 * @returns the reason, in words, where the placement says what cannot be meant.
 */
export function affinityGroups(
  { clusterAffinity, clusterAffinities: groups = [], replicaScheduling }: Placement,
  current: string | undefined,
): AffinityGroup[] | { refused: string } {
  if (groups.length === 0) return [clusterAffinity ? { affinity: clusterAffinity } : {}];
  if (clusterAffinity) return { refused: 'the policy has both clusterAffinity and clusterAffinities: keep one' };
  const names = groups.map(({ affinityName }) => affinityName);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { refused: `there are two groups ${twice} in clusterAffinities: rename one` };
  const overflowing = groups.find(({ overflowAffinities = [] }) => overflowAffinities.length > 0);
  if (overflowing && strategyOf(replicaScheduling).type === 'Duplicated') {
    const { affinityName } = overflowing;
    return { refused: `group ${affinityName} has overflowAffinities, which only replicas that are Divided can go to` };
  }
  const first = current === undefined ? 0 : Math.max(0, names.indexOf(current));
  return groups.slice(first).map((group) => ({ affinity: group, affinityName: group.affinityName }));
}
