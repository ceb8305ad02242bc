import type { Bounds } from './spread-constraint.ts';
import { byName } from './tie-break.ts';

export interface Group {
  name: string;
  /** Clusters in it. */
  size: number;
  score: number;
}

/** Sets looked at before the search settles for the best so far: no policy may hold up all others. */
const SEARCH_LIMIT = 20_000;

/**
 * Chooses groups within `bounds` that together have at least `minClusters` clusters.
 *
 * G1  Sets are searched depth first, small groups first, then good ones, then by name; a set that suffices is not extended.
 * G2  The best has the highest sum of scores, then the most clusters, then was found first.
 * G3  A set whose groups, best first, are the beginning of the best one's is enough, and so preferred.
 *
 * @returns their names, or undefined where no set suffices.
 */
export function selectGroups(groups: readonly Group[], bounds: Bounds, minClusters: number): string[] | undefined {
  const sets = sufficientSets(groups, bounds, minClusters).map(describe);
  const [first, ...others] = sets.toSorted((a, b) => b.score - a.score || b.size - a.size);
  let best = first;
  for (const set of others) {
    if (best && isStrictPrefix(set.names, best.names)) best = set;
  }
  return best?.names;
}

function sufficientSets(groups: readonly Group[], { minGroups, maxGroups }: Bounds, minClusters: number): Group[][] {
  const ordered = groups.toSorted((a, b) => a.size - b.size || b.score - a.score || byName(a.name, b.name));
  if (ordered.length === minGroups) return sizeOf(ordered) >= minClusters ? [ordered] : [];
  const found: Group[][] = [];
  const chosen: Group[] = [];
  let looked = 0;
  const search = (begin: number, size: number): void => {
    looked += 1;
    if (size >= minClusters && chosen.length >= minGroups && chosen.length <= maxGroups) {
      found.push([...chosen]);
      return;
    }
    if (chosen.length >= maxGroups) return;
    for (let next = begin; next < ordered.length && looked < SEARCH_LIMIT; next += 1) {
      const group = ordered[next] as Group;
      chosen.push(group);
      search(next + 1, size + group.size);
      chosen.pop();
    }
  };
  search(0, 0);
  return found;
}

interface GroupSet {
  names: string[];
  size: number;
  score: number;
}

function describe(groups: readonly Group[]): GroupSet {
  const best = groups.toSorted((a, b) => b.score - a.score || byName(a.name, b.name));
  return {
    names: best.map(({ name }) => name),
    size: sizeOf(groups),
    score: groups.reduce((sum, { score }) => sum + score, 0),
  };
}

function sizeOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { size }) => sum + size, 0);
}

function isStrictPrefix(some: readonly string[], all: readonly string[]): boolean {
  return some.length < all.length && some.every((name, index) => all[index] === name);
}
