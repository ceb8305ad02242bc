import type { Cluster, Decision, Placement, TargetCluster } from '../api/index.ts';
import { type Candidate, TARGET_SCORE, UNLIMITED } from './candidate.ts';
import type { TieredAffinity } from './cluster-affinity.ts';
import { clusterFilter, type Rejection } from './cluster-filter.ts';
import { decide, type Decided } from './decide.ts';
import { explainDivision, type Verdict } from './explain-division.ts';
import { replicaEstimate } from './replica-estimate.ts';
import { byName } from './tie-break.ts';
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
  /** Divide as if for the first time, though with what is there counted as room; and begin with the first group again. */
  fresh?: boolean | undefined;
}

export interface Unschedulable {
  /**
   * `NoClusterFit`: no cluster passes the filters. `Unschedulable`: those that do are too few, or have too little room.
   * `SchedulingSuspended`, `AwaitsTemplate`: nothing is decided for now.
   */
  reason: 'NoClusterFit' | 'Unschedulable' | 'SchedulingSuspended' | 'AwaitsTemplate';
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
  fresh,
}: ScheduleInput): { affinity?: TieredAffinity; affinityName?: string }[] {
  const groups = placement.clusterAffinities ?? [];
  if (groups.length === 0) return [placement.clusterAffinity ? { affinity: placement.clusterAffinity } : {}];
  const current = fresh ? 0 : groups.findIndex((group) => group.affinityName === affinityName);
  return groups.slice(Math.max(0, current)).map((group) => ({ affinity: group, affinityName: group.affinityName }));
}

type Rejections = ReadonlyMap<string, Rejection>;

function scheduleWithin(affinity: TieredAffinity | undefined, input: ScheduleInput): Schedule {
  const { candidates, rejections } = filter(affinity, input);
  if (candidates.length === 0) {
    const message = `none of ${input.clusters.length} clusters can take it: ${summary(rejections)}`;
    return unchanged(input, { reason: 'NoClusterFit', message }, { candidates, rejections });
  }
  const { placement, template, workload, fresh = false } = input;
  const decided = decide(candidates, { placement, uid: template.uid, replicas: workload?.replicas, fresh });
  if ('refused' in decided) {
    const unschedulable: Unschedulable = { reason: 'Unschedulable', message: decided.refused };
    return unchanged(input, unschedulable, { candidates, rejections });
  }
  const decisions = decisionsOf(input, { candidates, rejections, verdicts: verdictsOf(decided, workload) });
  return { clusters: targetsOf(decided), decisions };
}

function filter(
  affinity: TieredAffinity | undefined,
  { clusters, template, placement, previous, workload }: ScheduleInput,
) {
  const had = new Map(previous.map(({ name, replicas = 0 }) => [name, replicas]));
  const overflows = workload !== undefined;
  const tierOf = clusterFilter({ template, placement, affinity, overflows, targets: new Set(had.keys()) });
  const estimate = workload ? replicaEstimate(workload) : () => UNLIMITED;
  const candidates: Candidate[] = [];
  const rejections = new Map<string, Rejection>();
  for (const cluster of clusters) {
    const name = cluster.metadata.name ?? '';
    const tier = tierOf(cluster);
    if (typeof tier !== 'number') {
      rejections.set(name, tier);
      continue;
    }
    const before = had.get(name);
    const assigned = before ?? 0;
    const room = estimate(cluster.status);
    const allocatable = workload && room >= UNLIMITED ? workload.replicas : room;
    const score = before === undefined ? 0 : TARGET_SCORE;
    candidates.push({ name, cluster, tier, score, assigned, allocatable, available: assigned + allocatable });
  }
  return { candidates, rejections };
}

type Success = Exclude<Decided, { refused: string }>;

/** Where it goes, sorted by name: with replicas where they are divided. */
export function targetsOf({ selected, strategy, division }: Success): TargetCluster[] {
  if (!division) return selected.map(({ name }) => ({ name })).sort((a, b) => byName(a.name, b.name));
  return [...division.shares]
    .filter(([, share]) => share > 0 || strategy.type === 'Duplicated')
    .map(([name, share]) => ({ name, replicas: share }))
    .sort((a, b) => byName(a.name, b.name));
}

type Verdicts = ReadonlyMap<string, Verdict>;

function verdictsOf(
  { selected, strategy, spreadIgnored, division }: Success,
  workload: Workload | undefined,
): Verdicts {
  if (!division) {
    return new Map(
      selected.map(({ name }) => [name, { selected: true, reason: 'Selected', message: 'matches the policy' }]),
    );
  }
  const explain = explainDivision({ replicas: workload?.replicas ?? 0, strategy, spreadIgnored, ...division });
  return new Map(selected.map((candidate) => [candidate.name, explain(candidate)]));
}

interface Grounds {
  candidates: readonly Candidate[];
  rejections: Rejections;
  verdicts?: Verdicts;
  unschedulable?: Unschedulable;
}

/** The last result, for a reason that every cluster then shares. */
export function unchanged(
  input: ScheduleInput,
  unschedulable: Unschedulable,
  { candidates, rejections }: Pick<Grounds, 'candidates' | 'rejections'> = { candidates: [], rejections: new Map() },
): Schedule {
  const staying = input.clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const there = new Set(staying.map(({ metadata }) => metadata.name));
  const clusters = input.previous.filter(({ name }) => there.has(name)).toSorted((a, b) => byName(a.name, b.name));
  const { reason, message: why } = unschedulable;
  const tried = reason === 'NoClusterFit' || reason === 'Unschedulable';
  const message = tried ? `keeps what it has, for there is no better place: ${why}` : `keeps what it has: ${why}`;
  const verdicts = new Map(clusters.map(({ name }) => [name, { selected: true, reason: 'Kept', message }]));
  const decisions = decisionsOf(input, { candidates, rejections, verdicts, unschedulable });
  return { clusters, decisions, unschedulable };
}

const MET_BY_OTHERS =
  'the spread constraints are met by others, which have it already, have more room or come first by name';

function decisionsOf(
  { clusters, workload }: ScheduleInput,
  { candidates, rejections, verdicts, unschedulable }: Grounds,
): Decision[] {
  const candidateOf = new Map(candidates.map((candidate) => [candidate.name, candidate]));
  const beside: Verdict = {
    selected: false,
    ...(unschedulable ?? { reason: 'SpreadConstraint', message: MET_BY_OTHERS }),
  };
  const decisions = clusters.map(({ metadata: { name = '' } }): Decision => {
    const { selected, reason, message, weight }: Verdict =
      verdicts?.get(name) ?? rejectedBy(rejections.get(name)) ?? beside;
    const decision: Decision = { cluster: name, selected, reason, message };
    if (weight !== undefined) decision.weight = weight;
    const candidate = candidateOf.get(name);
    if (candidate) {
      decision.score = candidate.score;
      if (workload) decision.availableReplicas = candidate.available;
    }
    return decision;
  });
  return decisions.sort((a, b) => byName(a.cluster, b.cluster));
}

function rejectedBy(rejection: Rejection | undefined): Verdict | undefined {
  return rejection && { selected: false, reason: rejection.reason, message: rejection.message };
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
