import { deepEqual } from '@asterism/machinery';
import type { Cluster, Decision, ResourceBinding } from '../api/index.ts';
import { strategyOf } from './divide-replicas.ts';
import { type ClusterFilter, clusterFilter } from './cluster-filter.ts';
import { KnownClusters } from './known-clusters.ts';
import type { ScheduleInput } from './schedule.ts';
import { byName } from '../template/tie-break.ts';

type BindingSpec = ResourceBinding['spec'];

/**
 * Whether the last result still stands, so that nothing moves that need not. It does not where the placement has changed, the
 * replicas do not add up, a chosen cluster is gone or ruled out, or the last attempt failed; and what is not divided is chosen
 * anew every time, so that a new cluster gets it too.
 */
export function resultStands(last: BindingSpec, input: ScheduleInput): boolean {
  const { placement, workload, clusters } = input;
  if (!last.clusters || last.unschedulable || !deepEqual(last.placement, placement)) return false;
  if (!workload || strategyOf(placement.replicaScheduling).type === 'Duplicated') return false;
  const sum = last.clusters.reduce((total, { replicas = 0 }) => total + replicas, 0);
  if (sum !== workload.replicas) return false;
  const byClusterName = new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const filter = filterOf(last, input);
  return last.clusters.every(({ name }) => {
    const cluster = byClusterName.get(name);
    return cluster !== undefined && typeof filter(cluster) === 'number';
  });
}

/** The reasons beside a result that stands: those of the chosen stay, those of the others follow what clusters say of themselves. */
export function standingDecisions(last: BindingSpec, input: ScheduleInput): Decision[] {
  const demand = filterDemand(last, input);
  const filter = clusterFilter(demand);
  const before = new Map(last.decisions?.map((decision) => [decision.cluster, decision]));
  const decide = (cluster: Cluster): Decision => {
    const name = cluster.metadata.name ?? '';
    const present = before.get(name);
    if (present && demand.targets.has(name)) return present;
    const rejection = filter(cluster);
    if (typeof rejection !== 'number') return { cluster: name, selected: false, ...rejection };
    if (present && !FILTERS.has(present.reason)) return present;
    return {
      cluster: name,
      selected: false,
      reason: 'Standing',
      message: 'it could take replicas, but they were divided before it could: none are moved for that alone',
    };
  };
  return input.clusters.map(decide).toSorted((a, b) => byName(a.cluster, b.cluster));
}

/** Reasons that a filter gives, and that a later look may take back. */
const FILTERS: ReadonlySet<string> = new Set([
  'ClusterLeaving',
  'ClusterAffinity',
  'NotPermitted',
  'NamespaceNotAccepted',
  'APIEnablement',
  'TaintToleration',
]);

/** The filter by which the last result was decided. */
export function filterOf(last: BindingSpec, input: ScheduleInput): ClusterFilter {
  return clusterFilter(filterDemand(last, input));
}

function filterDemand(
  last: BindingSpec,
  { template, limits, placement, workload, known = new KnownClusters() }: ScheduleInput,
) {
  const group = placement.clusterAffinities?.find(({ affinityName }) => affinityName === last.affinityName);
  const targets: ReadonlySet<string> = new Set(last.clusters?.map(({ name }) => name));
  const affinity = group ?? placement.clusterAffinity;
  return { template, limits, placement, affinity, overflows: workload !== undefined, targets, served: known.served };
}

/**
 * The decisions to write down: those of before where nothing was decided otherwise. The numbers in them are those of the
 * decision; following the load of every cluster would write every binding at every heartbeat.
 */
export function recordedDecisions(before: readonly Decision[] | undefined, now: Decision[]): Decision[] {
  const same = before?.length === now.length && now.every((decision, index) => sameVerdict(before[index], decision));
  return same ? [...before] : now;
}

function sameVerdict(a: Decision | undefined, b: Decision): boolean {
  // Who lacks which right is no figure that changes with every heartbeat.
  if (b.reason === 'NotPermitted' && a?.message !== b.message) return false;
  return a?.cluster === b.cluster && a.selected === b.selected && a.reason === b.reason && a.weight === b.weight;
}
