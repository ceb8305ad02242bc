import type { Cluster, Placement } from '../api/index.ts';
import { counted } from './counted.ts';

type SpreadConstraint = NonNullable<Placement['spreadConstraints']>[number];

export interface Bounds {
  /** At least 1. */
  minGroups: number;
  /** `Infinity` where the policy sets no limit. */
  maxGroups: number;
}

/** What clusters are grouped by. */
export interface Grouping extends Bounds {
  /** As messages name it: `region`, `label example.com/rack`. */
  by: string;
  /** The group of a cluster; empty where it has none, and then it cannot be chosen. */
  groupOf: (cluster: Cluster) => string;
}

export interface Spread {
  cluster?: Bounds | undefined;
  /** All but the one by cluster. */
  groupings: readonly Grouping[];
}

/** Every constraint's own grouping; a cluster must have a group in each. Bounds on clusters themselves need none. */
export function groupingsOf(constraints: readonly SpreadConstraint[] | undefined): Grouping[] {
  return (constraints ?? []).filter((constraint) => nameOf(constraint) !== 'cluster').map(readGrouping);
}

/**
 * Reads the constraints of a placement: bounds on clusters, and on groups of them by fields or by any labels.
 *
 * @returns the reason, in words, where one contradicts itself or says a second time what another said.
 */
export function readSpread(constraints: readonly SpreadConstraint[] | undefined): Spread | { refused: string } {
  const all = (constraints ?? []).map(readGrouping);
  const ambiguous = constraints?.find(({ spreadByField, spreadByLabel }) => spreadByField && spreadByLabel);
  if (ambiguous) {
    const { spreadByField, spreadByLabel } = ambiguous;
    return {
      refused: `a spread constraint is by field ${spreadByField} and by label ${spreadByLabel}: make two of them`,
    };
  }
  const impossible = all.find(({ minGroups, maxGroups }) => minGroups > maxGroups);
  if (impossible) {
    const { by, minGroups, maxGroups } = impossible;
    return { refused: `the spread constraint by ${by} wants at least ${minGroups} and at most ${maxGroups}` };
  }
  const twice = all.find(({ by }, index) => all.findIndex((other) => other.by === by) !== index);
  if (twice) return { refused: `there are two spread constraints by ${twice.by}: keep one` };
  return { cluster: all.find(({ by }) => by === 'cluster'), groupings: all.filter(({ by }) => by !== 'cluster') };
}

/** Why there are too few clusters for the bounds, whichever are chosen; undefined where there are not. */
export function shortOfClusters(candidates: readonly unknown[], { minGroups }: Bounds): string | undefined {
  if (candidates.length >= minGroups) return undefined;
  return `${counted(candidates.length, 'cluster')} can take it, but it must be spread over at least ${minGroups}`;
}

/** The same of the groups that the clusters are in; a group may be named several times. */
export function shortOfGroups(groups: readonly string[], { by, minGroups }: Grouping): string | undefined {
  const names = new Set(groups);
  if (names.size >= minGroups) return undefined;
  const found = names.size === 0 ? '' : ` (${[...names].toSorted().join(', ')})`;
  const what = `the clusters that can take it are in ${counted(names.size, 'group')} by ${by}${found}`;
  return `${what}, but it must be spread over at least ${minGroups}`;
}

function readGrouping(constraint: SpreadConstraint): Grouping {
  return {
    by: nameOf(constraint),
    groupOf: groupOf(constraint),
    minGroups: constraint.minGroups || 1,
    maxGroups: constraint.maxGroups || Infinity,
  };
}

function nameOf({ spreadByField, spreadByLabel }: SpreadConstraint): string {
  if (spreadByLabel) return `label ${spreadByLabel}`;
  return spreadByField ?? 'cluster';
}

function groupOf({ spreadByField, spreadByLabel }: SpreadConstraint): Grouping['groupOf'] {
  if (spreadByLabel) return ({ metadata }) => metadata.labels?.[spreadByLabel] ?? '';
  // A cluster across several zones is spread by itself: it is a group with its equals, not a part of each zone.
  if (spreadByField === 'zone')
    return ({ spec: { zones = [] } }) => (zones.length > 1 ? zones.toSorted().join() : (zones[0] ?? ''));
  if (spreadByField === 'provider') return ({ spec }) => spec.provider ?? '';
  if (spreadByField === 'region') return ({ spec }) => spec.region ?? '';
  return ({ metadata }) => metadata.name ?? '';
}
