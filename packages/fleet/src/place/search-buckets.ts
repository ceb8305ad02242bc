import type { Candidate } from './candidate.ts';
import type { Bucket, CombinedDemand } from './select-combined.ts';

/** Sets of buckets looked at before the search is given up: no policy may hold up all others. */
const SEARCH_LIMIT = 20_000;

/**
 * Finds clusters within all bounds and with the room, if there are any: tries the sets of buckets, those of the first clusters
 * first. Of a set one cluster of each bucket is taken, then the roomiest of the rest: no choice from these buckets has more room.
 *
 * @returns the clusters, or `none`; `given up` where the limit came before the end.
 */
export function searchBuckets(buckets: readonly Bucket[], demand: CombinedDemand): Candidate[] | 'none' | 'given up' {
  const ranked = buckets.map(({ groups, members }) => ({
    groups,
    members: members.toSorted((a, b) => b.available - a.available),
    room: roomOf(members),
  }));
  const taken: RankedBucket[] = [];
  let looked = 0;
  const search = (from: number): Candidate[] | undefined => {
    looked += 1;
    if (looked > SEARCH_LIMIT || !mayComeOut(taken, ranked.slice(from), demand)) return undefined;
    const bucket = ranked[from];
    if (!bucket) return choiceFrom(taken, demand);
    if (fitsBeside(bucket, taken, demand)) {
      taken.push(bucket);
      const found = search(from + 1);
      if (found) return found;
      taken.pop();
    }
    return search(from + 1);
  };
  return search(0) ?? (looked > SEARCH_LIMIT ? 'given up' : 'none');
}

/** The roomiest first, with the room of all. */
interface RankedBucket extends Bucket {
  room: number;
}

function fitsBeside(bucket: Bucket, taken: readonly Bucket[], { cluster, groupings }: CombinedDemand): boolean {
  if (taken.length >= cluster.maxGroups) return false;
  return groupings.every(({ maxGroups }, index) => groupsAt(index, taken, [bucket]).size <= maxGroups);
}

/** Whether these buckets, with any of those that follow, could still meet every minimum and hold all replicas; never a false no. */
function mayComeOut(
  taken: readonly RankedBucket[],
  following: readonly RankedBucket[],
  demand: CombinedDemand,
): boolean {
  const { cluster, groupings, replicasToHold } = demand;
  const open = following.filter((bucket) => fitsBeside(bucket, taken, demand));
  const slots = cluster.maxGroups - taken.length;
  const reachable = groupings.every(({ minGroups }, index) => {
    const missing = minGroups - groupsAt(index, taken).size;
    return missing <= slots && groupsAt(index, taken, open).size >= minGroups;
  });
  if (!reachable) return false;
  let clusters = 0;
  let room = 0;
  let most = 0;
  for (const bucket of [...taken, ...open]) {
    clusters += bucket.members.length;
    room += bucket.room;
    most = Math.max(most, bucket.members[0]?.available ?? 0);
  }
  const roomOfSome = most === 0 ? 0 : most * cluster.maxGroups;
  return clusters >= cluster.minGroups && Math.min(room, roomOfSome) >= replicasToHold;
}

function choiceFrom(taken: readonly Bucket[], { cluster, replicasToHold }: CombinedDemand): Candidate[] | undefined {
  const first = taken.flatMap(({ members }) => members.slice(0, 1));
  const rest = taken.flatMap(({ members }) => members.slice(1)).toSorted((a, b) => b.available - a.available);
  const chosen = [...first, ...rest.slice(0, Math.max(0, cluster.maxGroups - first.length))];
  const enough = chosen.length >= cluster.minGroups && roomOf(chosen) >= replicasToHold;
  return enough ? chosen : undefined;
}

function groupsAt(index: number, ...lists: (readonly Bucket[])[]): ReadonlySet<string> {
  return new Set(lists.flatMap((buckets) => buckets.map(({ groups }) => groups[index] ?? '')));
}

function roomOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { available }) => sum + available, 0);
}
