import type { Bounds } from './spread-constraint.ts';
import { byName } from '../template/tie-break.ts';

export interface Group {
  name: string;
  /** Clusters in it; at least 1. */
  size: number;
  /** Not negative. */
  score: number;
}

/** Beginnings of sets that are compared before the search settles for what comes first: no policy may hold up all others. */
const SEARCH_LIMIT = 200_000;

/**
 * Chooses groups within `bounds` that together have at least `minClusters` clusters, as Karmada's search over regions does.
 *
 * G1  Groups are in order: small ones first, then good ones, then by name. A set suffices when it has `minGroups` groups and
 *     `minClusters` clusters; one that suffices already without its last group is not looked at.
 * G2  The best has the highest sum of scores, then the most clusters, then the groups that come first in that order.
 * G3  A set whose groups, best first, are the beginning of the best one's is enough, and so preferred: the shortest of these.
 *
 * Upstream lists every set there is. This finds the same one in as many steps as there are groups × groups × clusters asked for.
 *
 * @returns their names, the best first, or undefined where no set suffices.
 */
export function selectGroups(groups: readonly Group[], bounds: Bounds, minClusters: number): string[] | undefined {
  const ordered = groups.toSorted((a, b) => a.size - b.size || b.score - a.score || byName(a.name, b.name));
  const suffices = (set: readonly Group[]): boolean => isFound(set, bounds, minClusters);
  if (ordered.length === bounds.minGroups) {
    return sizeOf(ordered) >= minClusters ? inOrderOfMerit(ordered).map(({ name }) => name) : undefined;
  }
  const best = bestSet(ordered, bounds, minClusters);
  if (!best) return undefined;
  const listed = inOrderOfMerit(best);
  const place = new Map(ordered.map((group, index) => [group, index]));
  const asSearched = (set: readonly Group[]) => set.toSorted((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  const shortest = listed.findIndex((_, index) => suffices(asSearched(listed.slice(0, index + 1))));
  return listed.slice(0, shortest + 1).map(({ name }) => name);
}

/** G1, of a set in search order. */
function isFound(set: readonly Group[], { minGroups, maxGroups }: Bounds, minClusters: number): boolean {
  if (set.length < minGroups || set.length > maxGroups || sizeOf(set) < minClusters) return false;
  return set.length === minGroups || sizeOf(set.slice(0, -1)) < minClusters;
}

/** The best way to complete a set: what it adds, and by which group it begins. */
interface Completion {
  score: number;
  size: number;
  first: number;
  rest: Completion | undefined;
}

function bestSet(ordered: readonly Group[], { minGroups, maxGroups }: Bounds, minClusters: number) {
  const known = new Map<number, Completion | undefined>();
  const limit = Math.min(maxGroups, ordered.length);
  const complete = (from: number, chosen: number, clusters: number): Completion | undefined => {
    const group = ordered[from];
    if (!group) return undefined;
    const key = (from * (limit + 1) + chosen) * (minClusters + 1) + clusters;
    if (known.has(key)) return known.get(key);
    const with_ = take(group, from, chosen, clusters);
    const without = with_ && known.size > SEARCH_LIMIT ? undefined : complete(from + 1, chosen, clusters);
    const best = with_ && without ? (isBetter(without, with_) ? without : with_) : (with_ ?? without);
    known.set(key, best);
    return best;
  };
  const take = ({ score, size }: Group, at: number, chosen: number, before: number): Completion | undefined => {
    const clusters = Math.min(before + size, minClusters);
    if (clusters >= minClusters && chosen + 1 >= minGroups) return { score, size, first: at, rest: undefined };
    const rest = chosen + 1 < limit ? complete(at + 1, chosen + 1, clusters) : undefined;
    return rest && { score: score + rest.score, size: size + rest.size, first: at, rest };
  };
  const set: Group[] = [];
  for (let next = complete(0, 0, 0); next; next = next.rest) set.push(ordered[next.first] as Group);
  return set.length > 0 ? set : undefined;
}

function isBetter(a: Completion, b: Completion): boolean {
  return a.score > b.score || (a.score === b.score && a.size > b.size);
}

function inOrderOfMerit(groups: readonly Group[]): Group[] {
  return groups.toSorted((a, b) => b.score - a.score || byName(a.name, b.name));
}

function sizeOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { size }) => sum + size, 0);
}
