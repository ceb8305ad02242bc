import type { Placement } from '../../api/index.ts';
import type { Candidate } from '../candidate.ts';

/**
 * What Karmada's scheduler does after its filters, once more and as plainly as its rules are told: every set of regions is
 * listed, every replica is given out by looking at all clusters. Slow, and shares no code with what it is compared with.
 */
export interface OracleDemand {
  placement: Placement;
  replicas: number;
  fresh: boolean;
  /** Ties go to the last name instead of the first. */
  descending: boolean;
}

type Bounds = { min: number; max: number };

/** Replicas by cluster, without zeros unless Duplicated; undefined where it is refused. */
export function oracle(candidates: readonly Candidate[], demand: OracleDemand): Map<string, number> | undefined {
  const selected = select(sorted(candidates), demand);
  if (!selected) return undefined;
  const { replicaScheduling: scheduling } = demand.placement;
  if (!scheduling || scheduling.replicaSchedulingType === 'Duplicated') {
    return new Map(selected.map(({ name }) => [name, demand.replicas]));
  }
  const result = isStatic(demand.placement) ? divideStatically(selected, demand) : divideByRoom(selected, demand);
  return result && new Map([...result].filter(([, replicas]) => replicas > 0));
}

function isStatic({ replicaScheduling: scheduling }: Placement): boolean {
  return (
    scheduling?.replicaSchedulingType === 'Divided' &&
    scheduling.replicaDivisionPreference === 'Weighted' &&
    !scheduling.weightPreference?.dynamicWeight
  );
}

function sorted(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => {
    if (a.score !== b.score) return b.score - a.score;
    if (a.available !== b.available) return b.available - a.available;
    return a.name < b.name ? -1 : 1;
  });
}

function select(ordered: Candidate[], { placement, replicas }: OracleDemand): Candidate[] | undefined {
  const bounds = (field: string): Bounds | undefined => {
    const found = placement.spreadConstraints?.find(({ spreadByField }) => spreadByField === field);
    return found && { min: found.minGroups ?? 1, max: found.maxGroups ?? Infinity };
  };
  const [cluster, region] = [bounds('cluster'), bounds('region')];
  const scheduling = placement.replicaScheduling;
  const listed = (scheduling?.weightPreference?.staticWeightList ?? []).length > 0;
  if (!cluster && !region) return ordered;
  if (isStatic(placement) && (!scheduling?.weightPreference || listed)) return ordered;
  const duplicated = !scheduling || scheduling.replicaSchedulingType === 'Duplicated';
  const anyCluster = cluster ?? { min: 1, max: Infinity };
  if (region) return selectRegions(ordered, { region, cluster: anyCluster, replicas, duplicated });
  return selectBySlots(ordered, anyCluster, duplicated ? undefined : replicas);
}

function selectBySlots(ordered: Candidate[], { min, max }: Bounds, replicas: number | undefined) {
  if (ordered.length < min) return undefined;
  const chosen = ordered.slice(0, max);
  const rest = ordered.slice(chosen.length);
  const isShort = () => replicas !== undefined && total(chosen.map(({ available }) => available)) < replicas;
  for (let slot = chosen.length - 1; slot >= 0 && isShort(); slot -= 1) {
    const largest = Math.max(-1, ...rest.map(({ available }) => available));
    const present = chosen[slot] as Candidate;
    if (largest <= present.available) continue;
    const at = rest.findIndex(({ available }) => available === largest);
    chosen[slot] = rest[at] as Candidate;
    rest[at] = present;
  }
  return isShort() ? undefined : chosen;
}

interface Region {
  name: string;
  members: Candidate[];
  score: number;
}

interface RegionDemand {
  region: Bounds;
  cluster: Bounds;
  replicas: number;
  duplicated: boolean;
}

function selectRegions(ordered: Candidate[], demand: RegionDemand): Candidate[] | undefined {
  const { region, cluster } = demand;
  const names = [...new Set(ordered.map((candidate) => candidate.cluster.spec.region ?? ''))];
  const regions = names.map((name): Region => {
    const members = ordered.filter((candidate) => candidate.cluster.spec.region === name);
    return { name, members, score: regionScore(members, demand) };
  });
  if (regions.length < region.min) return undefined;
  const best = bestRegions(regions, region, cluster.min);
  if (!best) return undefined;
  const first = best.map(({ members }) => members[0] as Candidate);
  const others = sorted(best.flatMap(({ members }) => members.slice(1)));
  return [...first, ...others.slice(0, Math.max(0, cluster.max - first.length))];
}

function regionScore(members: Candidate[], { region, cluster, replicas, duplicated }: RegionDemand): number {
  const mean = (some: Candidate[]) => Math.floor(total(some.map(({ score }) => score)) / some.length);
  if (duplicated) {
    const whole = members.filter(({ available }) => available >= replicas);
    return whole.length === 0 ? 0 : whole.length * 1000 + mean(whole);
  }
  const target = Math.ceil(replicas / region.min);
  for (let count = 1; count <= members.length; count += 1) {
    const walked = members.slice(0, count);
    const enough = total(walked.map(({ available }) => available)) >= target;
    if (count >= Math.max(cluster.min, region.min) && enough) return target * 1000 + mean(walked);
  }
  const room = total(members.map(({ available }) => available));
  return Math.min(room, target) * 1000 + mean(members);
}

function bestRegions(regions: Region[], { min, max }: Bounds, clusters: number): Region[] | undefined {
  const size = (set: Region[]) => total(set.map(({ members }) => members.length));
  const score = (set: Region[]) => total(set.map((region) => region.score));
  const order = regions.toSorted((a, b) => {
    if (a.members.length !== b.members.length) return a.members.length - b.members.length;
    if (a.score !== b.score) return b.score - a.score;
    return a.name < b.name ? -1 : 1;
  });
  const sets: Region[][] = [];
  const search = (begin: number, set: Region[]): void => {
    if (size(set) >= clusters && set.length >= min && set.length <= max) {
      sets.push(set);
      return;
    }
    if (set.length >= max) return;
    for (let next = begin; next < order.length; next += 1) search(next + 1, [...set, order[next] as Region]);
  };
  if (order.length === min) {
    if (size(order) >= clusters) sets.push(order);
  } else search(0, []);
  const listed = sets
    .toSorted((a, b) => score(b) - score(a) || size(b) - size(a))
    .map((set) => set.toSorted((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1)));
  let [best] = listed;
  for (const set of listed.slice(1)) {
    if (best && set.length < best.length && set.every((region, index) => region === best?.[index])) best = set;
  }
  return best;
}

type Weights = [name: string, weight: number][];

function webster(replicas: number, weights: Weights, descending: boolean): Map<string, number> {
  const seats = new Map(weights.map(([name]) => [name, 0]));
  const quotient = ([name, weight]: Weights[number]) => weight / (2 * (seats.get(name) ?? 0) + 1);
  const isBefore = (a: Weights[number], b: Weights[number]): boolean => {
    const [first, second] = [quotient(a), quotient(b)];
    if (first !== second) return first > second;
    const [few, many] = [seats.get(a[0]) ?? 0, seats.get(b[0]) ?? 0];
    if (few !== many) return few < many;
    return descending ? a[0] > b[0] : a[0] < b[0];
  };
  const eligible = weights.filter(([, weight]) => weight > 0);
  for (let given = 0; given < replicas; given += 1) {
    const next = eligible.reduce((best, each) => (isBefore(each, best) ? each : best));
    seats.set(next[0], (seats.get(next[0]) ?? 0) + 1);
  }
  return seats;
}

function divideStatically(selected: Candidate[], { placement, replicas, descending }: OracleDemand) {
  const rules = placement.replicaScheduling?.weightPreference?.staticWeightList ?? [];
  const weights = selected.map(({ name }): Weights[number] => {
    const matching = rules.filter(({ targetCluster }) => targetCluster.clusterNames?.includes(name));
    return [name, Math.max(0, ...matching.map(({ weight }) => weight))];
  });
  const positive = weights.filter(([, weight]) => weight > 0);
  return webster(replicas, positive.length > 0 ? positive : weights.map(([name]) => [name, 1]), descending);
}

function divideByRoom(selected: Candidate[], { placement, replicas, fresh, descending }: OracleDemand) {
  const aggregated = placement.replicaScheduling?.replicaDivisionPreference === 'Aggregated';
  const assigned = total(selected.map((candidate) => candidate.assigned));
  const before = selected.map((candidate): Weights[number] => [candidate.name, candidate.assigned]);
  if (!fresh && assigned === replicas) return new Map(before);
  const scalingUp = !fresh && assigned < replicas;
  const target = scalingUp ? replicas - assigned : replicas;
  const weights = fresh
    ? selected.map((candidate): Weights[number] => [candidate.name, candidate.allocatable + candidate.assigned])
    : scalingUp
      ? selected.map((candidate): Weights[number] => [candidate.name, candidate.allocatable])
      : before.toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (total(weights.map(([, weight]) => weight)) < target) return undefined;
  const has = new Set(scalingUp ? before.filter(([, share]) => share > 0).map(([name]) => name) : []);
  const largestFirst = weights.toSorted(([, a], [, b]) => b - a);
  const listed = [
    ...largestFirst.filter(([name]) => has.has(name)),
    ...largestFirst.filter(([name]) => !has.has(name)),
  ];
  let length = 1;
  while (total(listed.slice(0, length).map(([, weight]) => weight)) < target) length += 1;
  const added = webster(target, aggregated ? listed.slice(0, length) : listed, descending);
  if (!scalingUp) return added;
  return new Map(before.map(([name, share]) => [name, share + (added.get(name) ?? 0)]));
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
