import type { Cluster, Placement } from '../api/index.ts';
import { type Candidate, totalAvailable } from './candidate.ts';
import { affinityTest } from './cluster-affinity.ts';
import { divideByWeight, type Division, type WeightedCluster } from './divide-by-weight.ts';
import { byName, type TieBreak } from '../template/tie-break.ts';

type ReplicaScheduling = NonNullable<Placement['replicaScheduling']>;

export type Strategy =
  /** All replicas in every cluster. */
  | { type: 'Duplicated' }
  | { type: 'StaticWeights'; weightOf: (cluster: Cluster) => number }
  /** In proportion to the room of each cluster. */
  | { type: 'DynamicWeights' }
  /** Into as few clusters as have the room. */
  | { type: 'Aggregated' };

/** How the policy wants replicas divided. Nothing said at all is Duplicated; else Divided, and that without more by equal weights. */
export function strategyOf(scheduling: ReplicaScheduling | undefined): Strategy {
  if (!scheduling || scheduling.replicaSchedulingType === 'Duplicated') return { type: 'Duplicated' };
  if (scheduling.replicaDivisionPreference === 'Aggregated') return { type: 'Aggregated' };
  if (scheduling.weightPreference?.dynamicWeight) return { type: 'DynamicWeights' };
  return { type: 'StaticWeights', weightOf: staticWeights(scheduling.weightPreference?.staticWeightList ?? []) };
}

type WeightRules = NonNullable<NonNullable<ReplicaScheduling['weightPreference']>['staticWeightList']>;

/** The largest of the rules that match. Without rules all clusters are equal. */
function staticWeights(rules: WeightRules): (cluster: Cluster) => number {
  if (rules.length === 0) return () => 1;
  const tests = rules.map(({ targetCluster, weight }) => ({ whyOutside: affinityTest(targetCluster), weight }));
  return (cluster) => {
    let largest = 0;
    for (const { whyOutside, weight } of tests) {
      if (weight > largest && whyOutside(cluster) === undefined) largest = weight;
    }
    return largest;
  };
}

export interface DivisionDemand {
  replicas: number;
  strategy: Strategy;
  /** Forgets the last result: replicas may move although nothing asks for it. */
  fresh: boolean;
  tieBreak: TieBreak;
}

/** The shares and the weights that they come from; or the room that there was, where it is too little. */
export type DivisionOutcome =
  | { shares: Division; weights: ReadonlyMap<string, number> }
  | { room: number; needed: number };

/**
 * Divides the replicas of a workload among the clusters chosen for it.
 *
 * D1  Scaling up by room adds what is missing and moves nothing; scaling down takes in proportion to what each has.
 * D2  By static weights it is always divided anew, so the shares follow from the weights alone.
 * D3  By room, clusters never get more than they can hold: too little room is an outcome, not a smaller division.
 * D4  Clusters of an overflow group get what the tiers before them have no room for, each tier divided by itself.
 */
export function divideReplicas(clusters: readonly Candidate[], demand: DivisionDemand): DivisionOutcome {
  if (demand.strategy.type === 'Duplicated') {
    return { shares: new Map(clusters.map(({ name }) => [name, demand.replicas])), weights: new Map() };
  }
  return clusters.some(({ tier }) => tier > 0) ? divideByTiers(clusters, demand) : divideWithin(clusters, demand);
}

function divideByTiers(clusters: readonly Candidate[], demand: DivisionDemand): DivisionOutcome {
  const tiers = [...Map.groupBy(clusters, ({ tier }) => tier)].toSorted(([a], [b]) => a - b);
  const shares = new Map<string, number>();
  const weights = new Map<string, number>();
  let left = demand.replicas;
  for (const [, members] of tiers) {
    const replicas = Math.min(left, totalAvailable(members));
    const outcome = divideWithin(members, { ...demand, replicas });
    if ('room' in outcome) return outcome;
    for (const [name, share] of outcome.shares) shares.set(name, share);
    for (const [name, weight] of outcome.weights) weights.set(name, weight);
    left -= replicas;
  }
  return left > 0 ? { room: demand.replicas - left, needed: demand.replicas } : { shares, weights };
}

function divideWithin(clusters: readonly Candidate[], demand: DivisionDemand): DivisionOutcome {
  const { strategy } = demand;
  if (strategy.type === 'StaticWeights') {
    return divideStatically(clusters, demand, strategy.weightOf);
  }
  return divideByRoom(clusters, demand, strategy.type === 'Aggregated');
}

function divideStatically(
  clusters: readonly Candidate[],
  { replicas, tieBreak }: DivisionDemand,
  weightOf: (cluster: Cluster) => number,
): DivisionOutcome {
  const own = clusters.map(({ name, cluster }) => ({ name, weight: weightOf(cluster) }));
  const none = own.every(({ weight }) => weight <= 0);
  const weighted = none ? own.map(({ name }) => ({ name, weight: 1 })) : own;
  return { shares: divideByWeight(replicas, weighted, tieBreak), weights: weightsOf(weighted) };
}

function divideByRoom(clusters: readonly Candidate[], demand: DivisionDemand, aggregated: boolean): DivisionOutcome {
  const { replicas, fresh, tieBreak } = demand;
  const assigned = clusters.reduce((sum, candidate) => sum + candidate.assigned, 0);
  if (fresh) {
    const room = clusters.map(({ name, available }) => ({ name, weight: available }));
    return divideAll(replicas, room, tieBreak, aggregated);
  }
  const present = clusters.map(({ name, assigned: weight }) => ({ name, weight }));
  if (assigned === replicas) return { shares: sharesOf(present), weights: weightsOf(present) };
  // A result is sorted by name, and what has equally many is given up in the order of the result.
  if (assigned > replicas)
    return divideAll(
      replicas,
      present.sort((a, b) => byName(a.name, b.name)),
      tieBreak,
      aggregated,
    );
  const room = clusters.map(({ name, assigned: has, allocatable }) => ({ name, has, weight: allocatable }));
  const added = divideAll(replicas - assigned, room, tieBreak, aggregated);
  return 'room' in added ? added : { ...added, shares: sumOf(sharesOf(present), added.shares) };
}

/** `has`: the replicas that are there, in scaling up, where clusters that have some go first. */
type Weighed = WeightedCluster & { has?: number };

function divideAll(
  replicas: number,
  clusters: readonly Weighed[],
  tieBreak: TieBreak,
  aggregated: boolean,
): DivisionOutcome {
  const room = clusters.reduce((sum, { weight }) => sum + weight, 0);
  if (room < replicas) return { room, needed: replicas };
  const taking = aggregated ? fewest(clusters, replicas) : clusters;
  return { shares: divideByWeight(replicas, taking, tieBreak), weights: weightsOf(taking) };
}

/** The shortest beginning of the list, clusters that have replicas first, then the roomiest, that can hold them all. */
function fewest(clusters: readonly Weighed[], replicas: number): Weighed[] {
  const has = (cluster: Weighed) => (cluster.has ? 1 : 0);
  const ordered = clusters.toSorted((a, b) => has(b) - has(a) || b.weight - a.weight);
  const taken: Weighed[] = [];
  let room = 0;
  for (const cluster of ordered) {
    if (room >= replicas) break;
    taken.push(cluster);
    room += cluster.weight;
  }
  return taken;
}

function weightsOf(clusters: readonly WeightedCluster[]): ReadonlyMap<string, number> {
  return new Map(clusters.map(({ name, weight }) => [name, weight]));
}

function sharesOf(clusters: readonly WeightedCluster[]): Division {
  return weightsOf(clusters.filter(({ weight }) => weight > 0));
}

function sumOf(a: Division, b: Division): Division {
  const sum = new Map(a);
  for (const [name, replicas] of b) sum.set(name, (sum.get(name) ?? 0) + replicas);
  return sum;
}
