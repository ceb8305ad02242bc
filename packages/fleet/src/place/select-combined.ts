import { type Candidate, roomiestFirst, TAKEN_BEFORE, totalAvailable } from './candidate.ts';
import { GroupCounts } from './group-counts.ts';
import type { Selection, SelectionDemand } from './select-clusters.ts';
import { searchBuckets } from './search-buckets.ts';
import { type Bounds, type Grouping, shortOfClusters, shortOfGroups } from './spread-constraint.ts';

/** Candidates that are alike to every constraint: of the same group in each grouping. In candidate order. */
export interface Bucket {
  /** Their group, for each grouping. */
  groups: readonly string[];
  members: readonly Candidate[];
}

export interface CombinedDemand {
  cluster: Bounds;
  groupings: readonly Grouping[];
  /** 0 where room does not matter. */
  replicasToHold: number;
}

/**
 * Chooses clusters so that every constraint holds, whatever they are by, and that there is room for all replicas.
 *
 * B1  What is chosen is within all bounds and has the room; where nothing is, that is said.
 * B2  Clusters are taken in order: first those that a minimum needs, then as many as the maxima let in. So what has the template
 *     already keeps it where it can.
 * B3  Where that does not come out, all sets of groups are tried; only a search of more than 300,000 steps is given up.
 */
export function selectCombined(ordered: readonly Candidate[], demand: SelectionDemand): Selection {
  const { groupings, cluster = { minGroups: 1, maxGroups: Infinity } } = demand.spread;
  const replicasToHold = demand.replicasToHold ?? 0;
  const combined = { cluster, groupings, replicasToHold };
  const buckets = bucketsOf(ordered, groupings);
  const shortage = whatIsShort(ordered, buckets, combined);
  if (shortage) return { refused: shortage };
  const selected = takeInOrder(ordered, buckets, combined) ?? searchBuckets(buckets, combined);
  if (!Array.isArray(selected)) return { refused: whyNone(selected, combined) };
  const all = [...groupings.map(({ by }) => by), ...(demand.spread.cluster ? ['cluster'] : [])].join(', ');
  return { selected, whyNot: () => `the spread constraints by ${all} are met without it: ${TAKEN_BEFORE}` };
}

function bucketsOf(ordered: readonly Candidate[], groupings: readonly Grouping[]): Bucket[] {
  const buckets = new Map<string, { groups: readonly string[]; members: Candidate[] }>();
  for (const candidate of ordered) {
    const groups = groupings.map(({ groupOf }) => groupOf(candidate.cluster));
    const key = groups.join('\n'); // which no label and no field contains
    const bucket = buckets.get(key);
    if (bucket) bucket.members.push(candidate);
    else buckets.set(key, { groups, members: [candidate] });
  }
  return [...buckets.values()];
}

/** What no choice could mend. */
function whatIsShort(
  ordered: readonly Candidate[],
  buckets: readonly Bucket[],
  { cluster, groupings }: CombinedDemand,
): string | undefined {
  const groupsIn = (index: number): string[] => buckets.map(({ groups }) => groups[index] ?? '');
  const short = groupings.map((grouping, index) => shortOfGroups(groupsIn(index), grouping));
  return shortOfClusters(ordered, cluster) ?? short.find((why) => why !== undefined);
}

function whyNone(outcome: 'none' | 'given up', { cluster, groupings, replicasToHold }: CombinedDemand): string {
  const bounded = [...groupings.map(({ by }) => by), ...(cluster.maxGroups < Infinity ? ['cluster'] : [])];
  const room = replicasToHold > 0 ? `, and has room for ${replicasToHold} replicas` : '';
  const what = `is within the bounds by ${bounded.join(', ')}${room}`;
  return outcome === 'none'
    ? `no choice of clusters ${what}`
    : `no choice of clusters was found that ${what}; fewer groups, or fewer constraints, are searched to the end`;
}

/** B2. Undefined where it leads nowhere. */
function takeInOrder(
  ordered: readonly Candidate[],
  buckets: readonly Bucket[],
  demand: CombinedDemand,
): Candidate[] | undefined {
  const groupsOf = new Map<Candidate, readonly string[]>();
  for (const { groups, members } of buckets) for (const member of members) groupsOf.set(member, groups);
  const choice = new Choice(demand, groupsOf);
  while (!choice.meetsMinima) {
    const next = mostNeeded(ordered, choice);
    if (!next) return undefined;
    choice.add(next);
  }
  for (const candidate of ordered) {
    if (choice.isFull) break;
    if (choice.admits(candidate)) choice.add(candidate);
  }
  let room = totalAvailable(choice.chosen);
  if (room >= demand.replicasToHold) return choice.chosen;
  const roomiest = roomiestFirst(ordered);
  for (let slot = choice.chosen.length - 1; slot >= 0 && room < demand.replicasToHold; slot -= 1) {
    room += choice.exchange(slot, roomiest);
  }
  return room >= demand.replicasToHold ? choice.chosen : undefined;
}

function mostNeeded(ordered: readonly Candidate[], choice: Choice): Candidate | undefined {
  let best: Candidate | undefined;
  let most = -1;
  for (const candidate of ordered) {
    if (!choice.admits(candidate)) continue;
    const gain = choice.gainOf(candidate);
    if (gain > most) {
      best = candidate;
      most = gain;
    }
  }
  return best;
}

/** Clusters chosen so far, never more than the maxima let in. */
class Choice {
  readonly chosen: Candidate[] = [];
  readonly #demand: CombinedDemand;
  readonly #groupsOf: ReadonlyMap<Candidate, readonly string[]>;
  readonly #taken = new Set<Candidate>();
  readonly #counts: GroupCounts;

  constructor(demand: CombinedDemand, groupsOf: ReadonlyMap<Candidate, readonly string[]>) {
    this.#demand = demand;
    this.#groupsOf = groupsOf;
    this.#counts = new GroupCounts(demand.groupings);
  }

  get meetsMinima(): boolean {
    return this.chosen.length >= this.#demand.cluster.minGroups && this.#counts.meetsMinima();
  }

  get isFull(): boolean {
    return this.chosen.length >= this.#demand.cluster.maxGroups;
  }

  admits(candidate: Candidate): boolean {
    if (this.isFull || this.#taken.has(candidate)) return false;
    return this.#counts.admits(this.#groups(candidate));
  }

  /** To how many minima that are not met yet it brings a group more. */
  gainOf(candidate: Candidate): number {
    return this.#counts.gainOf(this.#groups(candidate));
  }

  add(candidate: Candidate): void {
    this.chosen.push(candidate);
    this.#enter(candidate);
  }

  /** Puts the first of `others` that has more room and keeps all bounds in the place of a chosen one. @returns the room won */
  exchange(slot: number, others: readonly Candidate[]): number {
    const present = this.chosen[slot];
    if (!present) return 0;
    this.chosen.splice(slot, 1);
    this.#leave(present);
    const better = others.find(
      (other) =>
        other.available > present.available && this.admits(other) && this.#counts.meetsMinima(this.#groups(other)),
    );
    const next = better ?? present;
    this.chosen.splice(slot, 0, next);
    this.#enter(next);
    return next.available - present.available;
  }

  #groups(candidate: Candidate): readonly string[] {
    return this.#groupsOf.get(candidate) ?? [];
  }

  #enter(candidate: Candidate): void {
    this.#taken.add(candidate);
    this.#counts.enter(this.#groups(candidate));
  }

  #leave(candidate: Candidate): void {
    this.#taken.delete(candidate);
    this.#counts.leave(this.#groups(candidate));
  }
}
