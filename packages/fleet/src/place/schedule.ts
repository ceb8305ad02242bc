import type { Cluster, Decision, Placement, TargetCluster } from '../api/index.ts';
import { affinityGroups } from './affinity-groups.ts';
import { type Candidate, TARGET_SCORE, UNLIMITED } from './candidate.ts';
import type { TieredAffinity } from './cluster-affinity.ts';
import { clusterFilter, type Rejection } from './cluster-filter.ts';
import { decide, type Decided } from './decide.ts';
import { explainDivision, type Verdict } from './explain-division.ts';
import { KnownClusters } from './known-clusters.ts';
import { byName } from '../template/tie-break.ts';
import { type HiddenClusters, recordHidden } from './rights/hide-clusters.ts';
import type { PlacingLimits } from './rights/permit-filter.ts';
import type { Workload } from '../template/workload.ts';

export interface ScheduleInput {
  template: { apiVersion: string; kind: string; uid?: string | undefined };
  /** What there is to divide; undefined for a template that goes whole to each cluster. */
  workload: Workload | undefined;
  placement: Placement;
  /** Where the template must not be, whatever the placement says. */
  limits?: PlacingLimits | undefined;
  /** Every cluster of the fleet, except for those that are hidden. */
  clusters: readonly Cluster[];
  /** The clusters that the result must not name. */
  hidden?: HiddenClusters | undefined;
  /** The last result. */
  previous: readonly TargetCluster[];
  /** The group of `clusterAffinities` that the last result came from. */
  affinityName?: string | undefined;
  /** Divide as if for the first time, though with what is there counted as room; and begin with the first group again. */
  fresh?: boolean | undefined;
  /** What is known of the clusters from decisions before. */
  known?: KnownClusters | undefined;
}

export interface Unschedulable {
  /**
   * `NoClusterFit`: no cluster passes the filters. `Unschedulable`: those that do are too few, or have too little room.
   * `SchedulingSuspended`, `AwaitsTemplate`, `AwaitsOverrides`: nothing is decided for now. `NotPermitted`: the policy must not place
   * the template at all.
   */
  reason:
    | 'NoClusterFit'
    | 'Unschedulable'
    | 'SchedulingSuspended'
    | 'AwaitsTemplate'
    | 'AwaitsOverrides'
    | 'NotPermitted';
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
  const { placement, affinityName: current, fresh } = input;
  const groups = affinityGroups(placement, fresh ? undefined : current);
  const stay = current === undefined ? {} : { affinityName: current };
  if ('refused' in groups)
    return { ...unchanged(input, { reason: 'Unschedulable', message: groups.refused }), ...stay };
  let first: Schedule | undefined;
  for (const { affinity, affinityName } of groups) {
    const attempt = scheduleWithin(affinity, input);
    if (!attempt.unschedulable) return affinityName === undefined ? attempt : { ...attempt, affinityName };
    first ??= attempt;
  }
  return { ...(first as Schedule), ...stay };
}

/** What the filters made of each cluster, in the order of the input: a candidate, or why it is none. */
type Screened = readonly (Candidate | Grounds)[];

type Grounds = Pick<Decision, 'reason' | 'message'>;

function isCandidate(each: Candidate | Grounds): each is Candidate {
  return 'tier' in each;
}

function scheduleWithin(affinity: TieredAffinity | undefined, input: ScheduleInput): Schedule {
  const screened = screen(affinity, input);
  const candidates = screened.filter(isCandidate);
  if (candidates.length === 0) {
    const count = input.clusters.length + (input.hidden?.count ?? 0);
    const message = `none of ${count} clusters can take it: ${summary(screened, input.hidden)}`;
    return unchanged(input, { reason: 'NoClusterFit', message }, screened);
  }
  const { placement, template, workload, fresh = false } = input;
  const decided = decide(candidates, { placement, uid: template.uid, replicas: workload?.replicas, fresh });
  if ('refused' in decided) {
    const beside = input.hidden ? `; ${recordHidden(input.hidden, screened.length).message}` : '';
    return unchanged(input, { reason: 'Unschedulable', message: `${decided.refused}${beside}` }, screened);
  }
  const verdicts = verdictsOf(decided, workload);
  const beside = (candidate: Candidate) => ({ reason: 'SpreadConstraint', message: decided.whyNot(candidate) });
  return {
    clusters: targetsOf(decided),
    decisions: decisionsOf(input, { screened, verdicts, beside }),
  };
}

function screen(affinity: TieredAffinity | undefined, input: ScheduleInput): Screened {
  const { clusters, template, limits, placement, previous, workload, known = new KnownClusters() } = input;
  const had = new Map(previous.map(({ name, replicas = 0 }) => [name, replicas]));
  const overflows = workload !== undefined;
  const targets = new Set(had.keys());
  const tierOf = clusterFilter({ template, limits, placement, affinity, overflows, targets, served: known.served });
  const estimate = workload ? known.estimates.of(workload) : () => UNLIMITED;
  return clusters.map((cluster): Candidate | Rejection => {
    const tier = tierOf(cluster);
    if (typeof tier !== 'number') return tier;
    const { name = '' } = cluster.metadata;
    const before = had.get(name);
    const assigned = before ?? 0;
    const room = estimate(cluster.status);
    const allocatable = workload && room >= UNLIMITED ? workload.replicas : room;
    const score = before === undefined ? 0 : TARGET_SCORE;
    return { name, cluster, tier, score, assigned, allocatable, available: assigned + allocatable };
  });
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

/** The last result, for a reason that every cluster then shares. */
export function unchanged(
  input: ScheduleInput,
  unschedulable: Unschedulable,
  screened: Screened = input.clusters.map(() => unschedulable),
): Schedule {
  const staying = input.clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const there = new Set(staying.map(({ metadata }) => metadata.name));
  const clusters = input.previous.filter(({ name }) => there.has(name)).toSorted((a, b) => byName(a.name, b.name));
  const { reason, message: why } = unschedulable;
  const tried = reason === 'NoClusterFit' || reason === 'Unschedulable';
  const message = tried ? `keeps what it has, for there is no better place: ${why}` : `keeps what it has: ${why}`;
  const verdicts = new Map(clusters.map(({ name }) => [name, { selected: true, reason: 'Kept', message }]));
  const decisions = decisionsOf(input, { screened, verdicts, beside: () => unschedulable });
  return { clusters, decisions, unschedulable };
}

interface Reasons {
  screened: Screened;
  /** Of some clusters, by name: these go before what the filters say. */
  verdicts: Verdicts;
  /** Of all the others that passed the filters. */
  beside: (candidate: Candidate) => Grounds;
}

function decisionsOf({ clusters, workload }: ScheduleInput, { screened, verdicts, beside }: Reasons): Decision[] {
  const decisions = screened.map((each, index): Decision => {
    const cluster = clusters[index]?.metadata.name ?? '';
    const verdict = verdicts.get(cluster);
    const { reason, message } = verdict ?? (isCandidate(each) ? beside(each) : each);
    const decision: Decision = { cluster, selected: verdict?.selected ?? false, reason, message };
    if (verdict?.weight !== undefined) decision.weight = verdict.weight;
    if (!isCandidate(each)) return decision;
    decision.score = each.score;
    if (workload) decision.availableReplicas = each.available;
    return decision;
  });
  return decisions.sort((a, b) => byName(a.cluster, b.cluster));
}

/** `2 by TaintToleration, 1 by ClusterAffinity`. */
function summary(screened: Screened, hidden: HiddenClusters | undefined): string {
  const rejections = screened.filter((each): each is Grounds => !isCandidate(each));
  if (rejections.length === 0 && !hidden) return 'no cluster has joined';
  const byReason = Map.groupBy(rejections, ({ reason }) => reason);
  const counts = new Map([...byReason].map(([reason, all]) => [reason, all.length]));
  if (hidden) counts.set('NotPermitted', (counts.get('NotPermitted') ?? 0) + hidden.count);
  const reasons = [...counts].map(([reason, count]) => `${count} by ${reason}`).toSorted(byName);
  const right = hidden?.missing ?? byReason.get('NotPermitted')?.[0]?.message;
  return reasons.join(', ') + (right === undefined ? '' : ` (${right})`);
}
