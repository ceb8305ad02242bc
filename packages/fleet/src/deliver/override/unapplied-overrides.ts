import { formatUnappliedOverride, type UnappliedOverride } from '../../api/index.ts';

/** The same as it is for one cluster. */
export type UnappliedHere = Omit<UnappliedOverride, 'clusters'>;

/** As many as a status tells: they come from policies, and the status must still fit its store. */
const MAX_TOLD = 100;

/** What keeps an object from a cluster, in words; none where it may go there. */
export function overrideFaults(unapplied: readonly UnappliedHere[]): string[] {
  return unapplied.filter(({ reason }) => reason === 'Failed').map(formatUnappliedOverride);
}

/** What failed comes first, then what was refused. What is the same in several clusters is told once, with all of them. */
export function byRule(
  clusters: readonly { cluster: string; unapplied: readonly UnappliedHere[] }[],
): UnappliedOverride[] {
  const told = new Map<string, UnappliedOverride>();
  for (const { cluster, unapplied } of clusters) {
    for (const each of unapplied) {
      const key = `${each.reason} ${formatUnappliedOverride(each)}`;
      const known = told.get(key);
      if (!known) told.set(key, { ...each, clusters: [cluster] });
      else if (known.clusters.at(-1) !== cluster) known.clusters.push(cluster);
    }
  }
  const { Failed = [], Refused = [], NoEffect = [] } = Object.groupBy(told.values(), ({ reason }) => reason);
  return [...Failed, ...Refused, ...NoEffect].slice(0, MAX_TOLD);
}
