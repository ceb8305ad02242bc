import { type Candidate, roomiestFirst, totalAvailable } from './candidate.ts';
import { GroupCounts } from './group-counts.ts';
import type { Bounds } from './spread-constraint.ts';
import type { Bucket, CombinedDemand } from './select-combined.ts';

/** Buckets looked at before the search is given up, some 50 ms: no policy may hold up all others. */
const SEARCH_LIMIT = 300_000;

/**
 * Finds clusters within all bounds and with the room, if there are any: tries the sets of buckets, those of the first clusters
 * first. Of a set one cluster of each bucket is taken, then the roomiest of the rest: no choice from these buckets has more room.
 *
 * @returns the clusters, or `none`; `given up` where the limit came before the end.
 */
export function searchBuckets(buckets: readonly Bucket[], demand: CombinedDemand): Candidate[] | 'none' | 'given up' {
  return new Search(buckets, demand).run();
}

/** The roomiest first, with the room of all. */
interface RankedBucket extends Bucket {
  room: number;
}

class Search {
  readonly #buckets: readonly RankedBucket[];
  readonly #demand: CombinedDemand;
  readonly #taken: RankedBucket[] = [];
  readonly #counts: GroupCounts;
  #looked = 0;

  constructor(buckets: readonly Bucket[], demand: CombinedDemand) {
    this.#demand = demand;
    this.#counts = new GroupCounts(demand.groupings);
    this.#buckets = buckets.map(({ groups, members }) => ({
      groups,
      members: roomiestFirst(members),
      room: totalAvailable(members),
    }));
  }

  run(): Candidate[] | 'none' | 'given up' {
    const { cluster, replicasToHold } = this.#demand;
    const all = roomiestFirst(this.#buckets.flatMap(({ members }) => members));
    if (totalAvailable(all.slice(0, cluster.maxGroups)) < replicasToHold) return 'none';
    return this.#from(0) ?? (this.#looked > SEARCH_LIMIT ? 'given up' : 'none');
  }

  /** What comes of the buckets taken, with any of those from here on. */
  #from(index: number): Candidate[] | undefined {
    this.#looked += this.#buckets.length - index + 1;
    if (this.#looked > SEARCH_LIMIT || !this.#mayComeOut(index)) return undefined;
    const bucket = this.#buckets[index];
    if (!bucket) return this.#choice();
    if (this.#fits(bucket)) {
      this.#take(bucket);
      const found = this.#from(index + 1);
      if (found) return found;
      this.#leave(bucket);
    }
    return this.#from(index + 1);
  }

  #take(bucket: RankedBucket): void {
    this.#taken.push(bucket);
    this.#counts.enter(bucket.groups);
  }

  #leave(bucket: RankedBucket): void {
    this.#taken.pop();
    this.#counts.leave(bucket.groups);
  }

  #fits({ groups }: Bucket): boolean {
    return this.#taken.length < this.#demand.cluster.maxGroups && this.#counts.admits(groups);
  }

  /** Whether every minimum could still be met and all replicas be held. Never a false no. */
  #mayComeOut(index: number): boolean {
    const { cluster, groupings, replicasToHold } = this.#demand;
    const open = [...this.#taken];
    for (let next = index; next < this.#buckets.length; next += 1) {
      const bucket = this.#buckets[next] as RankedBucket;
      if (this.#fits(bucket)) open.push(bucket);
    }
    let clusters = 0;
    let most = 0;
    for (const { members } of open) {
      clusters += members.length;
      most = Math.max(most, members[0]?.available ?? 0);
    }
    if (clusters < cluster.minGroups || (most === 0 ? 0 : most * cluster.maxGroups) < replicasToHold) return false;
    return groupings.every((bounds, at) => this.#groupsMayComeOut(at, bounds, open));
  }

  #groupsMayComeOut(at: number, { minGroups, maxGroups }: Bounds, open: readonly RankedBucket[]): boolean {
    const { cluster, replicasToHold } = this.#demand;
    const missing = minGroups - this.#counts.groupsIn(at);
    if (missing > cluster.maxGroups - this.#taken.length) return false;
    const rooms = new Map<string, number>();
    for (const { groups, room } of open) {
      const group = groups[at] ?? '';
      rooms.set(group, (rooms.get(group) ?? 0) + room);
    }
    if (rooms.size < minGroups) return false;
    const largest =
      rooms.size > maxGroups ? [...rooms.values()].sort((a, b) => b - a).slice(0, maxGroups) : rooms.values();
    let room = 0;
    for (const each of largest) room += each;
    return room >= replicasToHold;
  }

  #choice(): Candidate[] | undefined {
    const { cluster, replicasToHold } = this.#demand;
    const first = this.#taken.flatMap(({ members }) => members.slice(0, 1));
    const rest = roomiestFirst(this.#taken.flatMap(({ members }) => members.slice(1)));
    const chosen = [...first, ...rest.slice(0, Math.max(0, cluster.maxGroups - first.length))];
    const enough = chosen.length >= cluster.minGroups && totalAvailable(chosen) >= replicasToHold;
    return enough ? chosen : undefined;
  }
}
