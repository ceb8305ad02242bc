import type { Cluster, Placement } from '../api/index.ts';

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
  grouping?: Grouping | undefined;
}

/** Every constraint's own grouping; a cluster must have a group in each. Bounds on clusters themselves need none. */
export function groupingsOf(constraints: readonly SpreadConstraint[] | undefined): Grouping[] {
  return (constraints ?? []).filter((constraint) => nameOf(constraint) !== 'cluster').map(readGrouping);
}

/**
 * Reads the constraints of a placement. Bounds on clusters go together with one more grouping, by a field or by any label.
 *
 * @returns the reason, in words, where constraints contradict each other or ask for more groupings than are understood.
 */
export function readSpread(constraints: readonly SpreadConstraint[] | undefined): Spread | { refused: string } {
  const all = (constraints ?? []).map(readGrouping);
  const impossible = all.find(({ minGroups, maxGroups }) => minGroups > maxGroups);
  if (impossible) {
    const { by, minGroups, maxGroups } = impossible;
    return { refused: `the spread constraint by ${by} wants at least ${minGroups} and at most ${maxGroups}` };
  }
  const [cluster, secondCluster] = all.filter(({ by }) => by === 'cluster');
  const [grouping, secondGrouping] = all.filter(({ by }) => by !== 'cluster');
  if (secondCluster) return { refused: 'there are two spread constraints by cluster: keep one' };
  if (grouping && secondGrouping) {
    const both = `by ${grouping.by} and by ${secondGrouping.by}`;
    return {
      refused: `spread constraints ${both} cannot be combined yet: keep one of them, with or without one by cluster`,
    };
  }
  return { cluster, grouping };
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
  if (spreadByField === 'zone') return ({ spec }) => (spec.zones ?? []).toSorted().join(',');
  if (spreadByField === 'provider') return ({ spec }) => spec.provider ?? '';
  if (spreadByField === 'region') return ({ spec }) => spec.region ?? '';
  return ({ metadata }) => metadata.name ?? '';
}
