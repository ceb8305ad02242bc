import { addQuantities, formatQuantity, parseJson, parseQuantity } from '@asterism/machinery';
import type { Cluster, ClusterAffinity, Placement, TargetCluster } from '../../api/index.ts';
import { readAmount } from '../../capacity/index.ts';
import { type Candidate, UNLIMITED } from '../candidate.ts';
import { type TieredAffinity, tierTest } from '../cluster-affinity.ts';
import { decide } from '../decide.ts';
import { strategyOf } from '../divide-replicas.ts';
import { ReplicaEstimates } from '../replica-estimate.ts';
import { targetsOf } from '../schedule.ts';

type Quantities = Record<string, string>;

/** A cluster as Karmada has it, as far as its scheduler looks at it after the filters. */
export interface KarmadaCluster {
  metadata: { name: string; labels?: Record<string, string> };
  spec?: {
    provider?: string;
    region?: string;
    zone?: string;
    zones?: string[];
    resourceModels?: { grade: number; ranges: { name: string; min: string }[] }[];
  };
  status?: {
    resourceSummary?: {
      allocatable?: Quantities;
      allocated?: Quantities;
      allocating?: Quantities;
      allocatableModelings?: { grade: number; count: number }[];
    };
  };
}

/** One decision of Karmada's scheduler: the candidates that passed its filters, the binding before, and what came of it. */
export interface KarmadaVector {
  clusters: KarmadaCluster[];
  /** Of the clusters, in their order. */
  scores?: number[];
  spec: {
    resource: { apiVersion: string; kind: string; uid?: string };
    replicaRequirements?: { resourceRequest?: Quantities };
    replicas?: number;
    clusters?: TargetCluster[];
    placement?: Placement;
    rescheduleTriggeredAt?: string;
  };
  status?: { lastScheduledTime?: string; schedulerObservingAffinityName?: string };
  result?: TargetCluster[];
  err?: string;
}

export interface Comparison {
  /** `m00=3 m01=2`, or `refused: why`. */
  wanted: string;
  got: string;
  same: boolean;
  /** Why upstream's own answer is not determined, where it is not; a difference is then no fault. */
  undetermined?: string;
}

/** Reads a line of a file of vectors. Throws where it is none, and says what is missing. */
export function readVector(line: string): KarmadaVector {
  const vector = parseJson(line) as Partial<KarmadaVector> | null;
  for (const field of ['clusters', 'spec'] as const) if (!vector?.[field]) throw new Error(`it has no ${field}`);
  if (!vector?.result && vector?.err === undefined) throw new Error('it has neither result nor err');
  return vector as KarmadaVector;
}

/** Decides anew what Karmada decided, and compares. Results are equal as sets; a refusal is equal to a refusal. */
export function compareWithKarmada(vector: KarmadaVector): Comparison {
  const outcome = decideVector(vector);
  const wanted = vector.err === undefined ? asText(vector.result ?? []) : `refused: ${vector.err}`;
  const got = 'refused' in outcome ? `refused: ${outcome.refused}` : asText(outcome.clusters);
  const same = 'refused' in outcome ? vector.err !== undefined : vector.err === undefined && got === wanted;
  const undetermined = same || 'refused' in outcome ? undefined : whyUndetermined(vector, outcome.selected);
  return { wanted, got, same, ...(undetermined === undefined ? {} : { undetermined }) };
}

/** Upstream sorts with an unstable sort, which from 13 elements on mixes equal ones. */
const STABLE_UP_TO = 12;

function whyUndetermined(vector: KarmadaVector, selected: readonly Candidate[]): string | undefined {
  const { spec } = vector;
  if (strategyOf(spec.placement?.replicaScheduling).type !== 'Aggregated' || selected.length <= STABLE_UP_TO) {
    return undefined;
  }
  const before = selected.reduce((sum, { assigned }) => sum + assigned, 0);
  const scalesDown = before > (spec.replicas ?? 0);
  const weights = selected.map(({ allocatable, assigned, available }) =>
    isFresh(vector) ? available : scalesDown ? assigned : allocatable,
  );
  return new Set(weights).size < weights.length
    ? `Aggregated over ${weights.length} clusters, some of equal weight: upstream's sort is not stable`
    : undefined;
}

function decideVector(
  vector: KarmadaVector,
): { clusters: TargetCluster[]; selected: readonly Candidate[] } | { refused: string } {
  const { spec } = vector;
  const placement = asKarmadaReads(spec.placement ?? {});
  if ('refused' in placement) return placement;
  const candidates = candidatesOf(vector);
  if (candidates.length === 0) return { refused: 'there are no clusters' };
  const decided = decide(candidates, {
    placement,
    uid: spec.resource.uid,
    replicas: isWorkload(spec) ? (spec.replicas ?? 0) : undefined,
    fresh: isFresh(vector),
  });
  return 'refused' in decided ? decided : { clusters: targetsOf(decided), selected: decided.selected };
}

/** Without replicas and without requests it is no workload to Karmada: it goes whole to each cluster. */
function isWorkload({ replicas = 0, replicaRequirements }: KarmadaVector['spec']): boolean {
  return replicas > 0 || replicaRequirements !== undefined;
}

function isFresh({ spec: { rescheduleTriggeredAt: triggered }, status }: KarmadaVector): boolean {
  const scheduled = status?.lastScheduledTime;
  return triggered !== undefined && scheduled !== undefined && Date.parse(triggered) > Date.parse(scheduled);
}

/** Beside regions and clusters, whose last constraint each counts, Karmada looks at no other when it chooses. */
function asKarmadaReads(placement: Placement): Placement | { refused: string } {
  const all = placement.spreadConstraints ?? [];
  if (all.length === 0) return placement;
  const region = all.findLast(({ spreadByField }) => spreadByField === 'region');
  const cluster = all.findLast(({ spreadByField, spreadByLabel }) =>
    spreadByField ? spreadByField === 'cluster' : !spreadByLabel,
  );
  const preference = placement.replicaScheduling?.weightPreference;
  const weightsDecide =
    strategyOf(placement.replicaScheduling).type === 'StaticWeights' &&
    (preference === undefined || (preference.staticWeightList ?? []).length > 0);
  if (!region && !cluster && !weightsDecide) return { refused: 'there is no constraint by cluster or region' };
  return { ...placement, spreadConstraints: [cluster, region].filter((constraint) => constraint !== undefined) };
}

function candidatesOf({ clusters, scores = [], spec, status }: KarmadaVector): Candidate[] {
  const requirements = spec.replicaRequirements?.resourceRequest ?? {};
  const workload = isWorkload(spec);
  const estimate = new ReplicaEstimates().of({ requirements });
  const tierOf = tierTest(affinityOf(spec.placement ?? {}, status?.schedulerObservingAffinityName));
  const had = new Map(spec.clusters?.map(({ name, replicas = 0 }) => [name, replicas]));
  return clusters.map((karmadaCluster, index) => {
    const cluster = clusterOf(karmadaCluster, Object.keys(requirements));
    const { name } = karmadaCluster.metadata;
    const tier = tierOf(cluster);
    const { resources = {}, nodeCapacity } = cluster.status ?? {};
    const bySums = estimate({ resources });
    const room = nodeCapacity ? Math.min(estimate({ nodeCapacity }), podsOf(resources)) : bySums;
    const assigned = had.get(name) ?? 0;
    const counted = room >= UNLIMITED ? (spec.replicas ?? 0) : room;
    const allocatable = workload ? counted : UNLIMITED;
    return {
      name,
      cluster,
      tier: workload && typeof tier === 'number' ? tier : 0,
      score: scores[index] ?? 0,
      assigned,
      allocatable,
      available: assigned + allocatable,
    };
  });
}

function affinityOf(placement: Placement, name: string | undefined): TieredAffinity | undefined {
  const groups = placement.clusterAffinities ?? [];
  const affinity: ClusterAffinity | undefined = placement.clusterAffinity;
  return groups.find(({ affinityName }) => affinityName === name) ?? groups[0] ?? affinity;
}

function podsOf(resources: NonNullable<NonNullable<Cluster['status']>['resources']>): number {
  return new ReplicaEstimates().of({ requirements: {} })({ resources });
}

/** Nodes of a grade have the least of it, and room for 110 pods. A model without a resource that is asked for is none. */
const PODS_ON_A_NODE = 110;

function clusterOf({ metadata, spec = {}, status }: KarmadaCluster, requested: readonly string[]): Cluster {
  const { provider, region, zone, zones = zone ? [zone] : undefined, resourceModels = [] } = spec;
  const summary = status?.resourceSummary;
  const models = new Map(
    resourceModels.map(({ grade, ranges }) => [grade, new Map(ranges.map(({ name, min }) => [name, min]))]),
  );
  const grades = (summary?.allocatableModelings ?? []).filter(({ count }) => count > 0);
  const known =
    grades.length > 0 && grades.every(({ grade }) => requested.every((name) => models.get(grade)?.has(name)));
  const free = (grade: number) => requested.map((name) => readAmount(name, models.get(grade)?.get(name) ?? '0'));
  const nodeCapacity = {
    resources: ['pods', ...requested],
    pools: [
      {
        nodes: grades.reduce((sum, { count }) => sum + count, 0),
        grades: grades.map(({ grade, count }) => ({ nodes: count, free: [PODS_ON_A_NODE, ...free(grade)] })),
      },
    ],
  };
  const resources = { allocatable: summary?.allocatable ?? {}, allocated: takenOf(summary) };
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata,
    spec: {
      id: metadata.name,
      syncMode: 'Push',
      connection: { type: 'Direct' },
      ...(provider ? { provider } : {}),
      ...(region ? { region } : {}),
      ...(zones ? { zones } : {}),
    },
    status: { ...(summary ? { resources } : {}), ...(known ? { nodeCapacity } : {}) },
  };
}

type Summary = NonNullable<NonNullable<KarmadaCluster['status']>['resourceSummary']>;

/** What pods have, and what pods that are on their way will have. */
function takenOf({ allocated = {}, allocating = {} }: Summary = {}): Quantities {
  const taken = { ...allocated };
  for (const [name, more] of Object.entries(allocating)) {
    taken[name] = formatQuantity(addQuantities(parseQuantity(taken[name] ?? '0'), parseQuantity(more)));
  }
  return taken;
}

function asText(targets: readonly TargetCluster[]): string {
  const shares = targets.map(({ name, replicas = 0 }) => `${name}=${replicas}`).sort();
  return shares.length > 0 ? shares.join(' ') : 'no cluster';
}
