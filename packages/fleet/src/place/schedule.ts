import type { Cluster, ClusterAffinity, Decision, Placement, TargetCluster } from '../api/index.ts';
import { replicaEstimate } from './replica-estimate.ts';
import { availableOf, type Candidate, TARGET_SCORE, UNLIMITED } from './candidate.ts';
import { divideReplicas, type Strategy, strategyOf } from './divide-replicas.ts';
import { explainDivision } from './explain-division.ts';
import { clusterFilter, type Rejection } from './cluster-filter.ts';
import { type Selection, selectClusters } from './select-clusters.ts';
import { readSpread, type Spread } from './spread-constraint.ts';
import { byName, tieBreakOf } from './tie-break.ts';
import type { Workload } from './workload.ts';

export interface ScheduleInput {
  template: { apiVersion: string; kind: string; uid?: string | undefined };
  /** What there is to divide; undefined for a template that goes whole to each cluster. */
  workload: Workload | undefined;
  placement: Placement;
  /** Every cluster of the fleet. */
  clusters: readonly Cluster[];
  /** The last result. */
  previous: readonly TargetCluster[];
  /** The group of `clusterAffinities` that the last result came from. */
  affinityName?: string | undefined;
  /** Divide as if for the first time, though with what is there counted as room. */
  fresh?: boolean | undefined;
}

export interface Unschedulable {
  /** `NoClusterFit`: no cluster passes the filters. `Unschedulable`: those that do are too few, or have too little room. */
  reason: 'NoClusterFit' | 'Unschedulable';
  message: string;
}

export interface Schedule {
  /** Sorted by name. Where `unschedulable` is set: the last result, less the clusters that are gone or leaving. */
  clusters: TargetCluster[];
  /** One for each cluster of the fleet, sorted by name. */
  decisions: Decision[];
  affinityName?: string;
  unschedulable?: Unschedulable;
}

/**
 * Decides where a template stands: filters, chooses, divides.
 *
 * S1  The same input gives the same answer, in any order of clusters.
 * S2  No fit changes nothing: what was placed stays where it is, and the outcome says why.
 * S3  Groups of affinities are tried in order, from that of the last result on; the first that fits is taken.
 * S4  There is a reason for every cluster, in or out.
 */
export function schedule(input: ScheduleInput): Schedule {
  const groups = affinityGroups(input);
  let first: Schedule | undefined;
  for (const { affinity, affinityName } of groups) {
    const attempt = scheduleWithin(affinity, input);
    if (!attempt.unschedulable) return affinityName === undefined ? attempt : { ...attempt, affinityName };
    first ??= attempt;
  }
  return { ...(first as Schedule), ...(input.affinityName === undefined ? {} : { affinityName: input.affinityName }) };
}

function affinityGroups({
  placement,
  affinityName,
}: ScheduleInput): { affinity?: ClusterAffinity; affinityName?: string }[] {
  const groups = placement.clusterAffinities ?? [];
  if (groups.length === 0) return [placement.clusterAffinity ? { affinity: placement.clusterAffinity } : {}];
  const current = groups.findIndex((group) => group.affinityName === affinityName);
  return groups.slice(Math.max(0, current)).map((group) => ({ affinity: group, affinityName: group.affinityName }));
}

type Rejections = ReadonlyMap<string, Pick<Rejection, 'message'> & { reason: string }>;

function scheduleWithin(affinity: ClusterAffinity | undefined, input: ScheduleInput): Schedule {
  const { candidates, rejections } = filter(affinity, input);
  if (candidates.length === 0) {
    const message = `none of ${input.clusters.length} clusters can take it: ${summary(rejections)}`;
    return unchanged(input, { reason: 'NoClusterFit', message }, candidates, rejections);
  }
  const strategy = strategyOf(input.placement.replicaScheduling);
  const selection = select(candidates, strategy, input);
  if ('refused' in selection) {
    return unchanged(input, { reason: 'Unschedulable', message: selection.refused }, candidates, rejections);
  }
  return divide(selection.selected, strategy, input, candidates, rejections);
}

function filter(
  affinity: ClusterAffinity | undefined,
  { clusters, template, placement, previous, workload }: ScheduleInput,
) {
  const had = new Map(previous.map(({ name, replicas = 0 }) => [name, replicas]));
  const filters = clusterFilter({ template, placement, affinity, targets: new Set(had.keys()) });
  const estimate = workload ? replicaEstimate(workload) : () => UNLIMITED;
  const candidates: Candidate[] = [];
  const rejections = new Map<string, Rejection>();
  for (const cluster of clusters) {
    const name = cluster.metadata.name ?? '';
    const rejection = filters(cluster);
    if (rejection) {
      rejections.set(name, rejection);
      continue;
    }
    candidates.push({
      name,
      cluster,
      score: had.has(name) ? TARGET_SCORE : 0,
      assigned: had.get(name) ?? 0,
      allocatable: estimate(cluster.status),
    });
  }
  return { candidates, rejections };
}

function select(
  candidates: readonly Candidate[],
  strategy: Strategy,
  { placement, workload }: ScheduleInput,
): Selection {
  const spread: Spread | { refused: string } = ignoresSpread(placement) ? {} : readSpread(placement.spreadConstraints);
  if ('refused' in spread) return spread;
  const replicas = workload?.replicas ?? 0;
  return selectClusters(candidates, {
    spread,
    replicas,
    replicasToHold: strategy.type === 'Duplicated' ? undefined : replicas,
  });
}

/** Where weights are listed, or none are given at all, the weights alone say where replicas go. */
function ignoresSpread({ replicaScheduling }: Placement): boolean {
  if (strategyOf(replicaScheduling).type !== 'StaticWeights') return false;
  const preference = replicaScheduling?.weightPreference;
  return preference === undefined || (preference.staticWeightList ?? []).length > 0;
}

function divide(
  selected: readonly Candidate[],
  strategy: Strategy,
  input: ScheduleInput,
  candidates: readonly Candidate[],
  rejections: Rejections,
): Schedule {
  const { workload, template, fresh = false } = input;
  if (!workload) {
    const clusters = selected.map(({ name }) => ({ name })).toSorted((a, b) => byName(a.name, b.name));
    const chosen = new Map(
      selected.map(({ name }) => [name, { selected: true, reason: 'Selected', message: 'matches the policy' }]),
    );
    return { clusters, decisions: decisionsOf(input, candidates, rejections, chosen) };
  }
  const { replicas } = workload;
  const outcome = divideReplicas(selected, { replicas, strategy, fresh, tieBreak: tieBreakOf(template.uid) });
  if ('room' in outcome) {
    const message = `the ${selected.length} clusters to choose from have room for ${outcome.room} of ${outcome.needed} replicas`;
    return unchanged(input, { reason: 'Unschedulable', message }, candidates, rejections);
  }
  const { placement } = input;
  const spreadIgnored = ignoresSpread(placement) && (placement.spreadConstraints ?? []).length > 0;
  const record = { replicas, strategy, spreadIgnored, ...outcome };
  const verdicts = new Map(selected.map((candidate) => [candidate.name, explainDivision(candidate, record)]));
  const clusters = [...outcome.shares]
    .filter(([, share]) => share > 0 || strategy.type === 'Duplicated')
    .map(([name, share]) => ({ name, replicas: share }))
    .toSorted((a, b) => byName(a.name, b.name));
  return { clusters, decisions: decisionsOf(input, candidates, rejections, verdicts) };
}

type Verdicts = ReadonlyMap<string, Pick<Decision, 'selected' | 'reason' | 'message' | 'weight'>>;

function unchanged(
  input: ScheduleInput,
  unschedulable: Unschedulable,
  candidates: readonly Candidate[],
  rejections: Rejections,
): Schedule {
  const staying = input.clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const there = new Set(staying.map(({ metadata }) => metadata.name));
  const clusters = input.previous.filter(({ name }) => there.has(name)).toSorted((a, b) => byName(a.name, b.name));
  const kept = clusters.map(({ name }) => {
    const message = `keeps what it has, for there is no better place: ${unschedulable.message}`;
    return [name, { selected: true, reason: 'Kept', message }] as const;
  });
  return {
    clusters,
    decisions: decisionsOf(input, candidates, rejections, new Map(kept), unschedulable),
    unschedulable,
  };
}

function decisionsOf(
  { clusters, workload }: ScheduleInput,
  candidates: readonly Candidate[],
  rejections: Rejections,
  verdicts: Verdicts,
  unschedulable?: Unschedulable,
): Decision[] {
  const candidateOf = new Map(candidates.map((candidate) => [candidate.name, candidate]));
  const names = clusters.map(({ metadata }) => metadata.name ?? '').toSorted(byName);
  return names.map((name) => {
    const candidate = candidateOf.get(name);
    const numbers = candidate ? numbersOf(candidate, workload) : {};
    const verdict = verdicts.get(name);
    if (verdict) return { cluster: name, ...verdict, ...numbers };
    const rejection = rejections.get(name);
    if (rejection) return { cluster: name, selected: false, ...rejection };
    if (unschedulable) return { cluster: name, selected: false, ...unschedulable, ...numbers };
    const message =
      'the spread constraints are met by others, which have it already, have more room or come first by name';
    return { cluster: name, selected: false, reason: 'SpreadConstraint', message, ...numbers };
  });
}

function numbersOf(
  candidate: Candidate,
  workload: Workload | undefined,
): Pick<Decision, 'score' | 'availableReplicas'> {
  return workload ? { score: candidate.score, availableReplicas: availableOf(candidate) } : { score: candidate.score };
}

/** `2 by TaintToleration, 1 by ClusterAffinity`. */
function summary(rejections: Rejections): string {
  if (rejections.size === 0) return 'no cluster has joined';
  const counts = Map.groupBy(rejections.values(), ({ reason }) => reason);
  return [...counts]
    .map(([reason, all]) => `${all.length} by ${reason}`)
    .toSorted(byName)
    .join(', ');
}
