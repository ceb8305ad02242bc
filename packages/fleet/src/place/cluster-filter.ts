import type { Cluster, Placement } from '../api/index.ts';
import type { ServedKinds } from './api-enablement.ts';
import { type TieredAffinity, tierTest } from './cluster-affinity.ts';
import { type PlacingLimits, whyNotPermitted } from './rights/permit-filter.ts';
import { groupingsOf } from './spread-constraint.ts';
import { formatTaint, untoleratedTaint } from '../capacity/tolerations.ts';

/** Why a cluster cannot take a template: a word to branch on, and a sentence that ends after the cluster's name. */
export interface Rejection {
  reason:
    | 'ClusterLeaving'
    | 'ClusterAffinity'
    | 'NotPermitted'
    | 'NamespaceNotAccepted'
    | 'SpreadConstraint'
    | 'APIEnablement'
    | 'TaintToleration';
  message: string;
}

export interface FilterDemand {
  template: { apiVersion: string; kind: string };
  /** What holds of clusters that have the template already, too. */
  limits?: PlacingLimits | undefined;
  placement: Placement;
  /** The affinity in force: the placement's only one, or the group whose turn it is. */
  affinity: TieredAffinity | undefined;
  /** Whether there are replicas to divide: nothing else goes to the affinity's overflow groups. */
  overflows: boolean;
  /** Names of the clusters that have the template already. */
  targets: ReadonlySet<string>;
  served: ServedKinds;
}

/** The first filter that a cluster does not pass; where it passes all, its tier: 0, or from 1 on its overflow group. */
export type ClusterFilter = (cluster: Cluster) => Rejection | number;

/**
 * Reads the demand once, for many clusters. What a cluster serves and its taints are asked of new clusters only: a template that
 * stands there already is not driven out by an account that is late, or by a taint that says `NoSchedule`.
 */
export function clusterFilter(demand: FilterDemand): ClusterFilter {
  const { template, limits, placement, affinity, overflows, targets, served } = demand;
  const tierOf = tierTest(overflows || !affinity ? affinity : { ...affinity, overflowAffinities: [] });
  const groupings = groupingsOf(placement.spreadConstraints);
  const serves = served.of(template);
  const unserved: Rejection = {
    reason: 'APIEnablement',
    message: `it does not serve ${template.apiVersion} ${template.kind}`,
  };
  return (cluster) => {
    if (cluster.metadata.deletionTimestamp) return { reason: 'ClusterLeaving', message: 'it is leaving the fleet' };
    const tier = tierOf(cluster);
    if (typeof tier === 'string') return { reason: 'ClusterAffinity', message: tier };
    const refused = whyNotPermitted(cluster, limits);
    if (refused) return refused;
    const missing = groupings.length > 0 && groupings.find(({ groupOf }) => groupOf(cluster) === '');
    if (missing) return { reason: 'SpreadConstraint', message: `it has no ${missing.by}, by which the policy spreads` };
    if (targets.has(cluster.metadata.name ?? '')) return tier;
    if (!serves(cluster)) return unserved;
    const { taints } = cluster.spec;
    const taint = taints && untoleratedTaint(taints, placement.clusterTolerations);
    if (!taint) return tier;
    return { reason: 'TaintToleration', message: `the policy does not tolerate its taint ${formatTaint(taint)}` };
  };
}
