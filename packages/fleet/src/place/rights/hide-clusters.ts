import type { Cluster, ResourceBinding } from '../../api/index.ts';
import { counted } from '../counted.ts';
import type { Unplaceable } from './placing-rights.ts';

/** Clusters that a binding does not name. */
export interface HiddenClusters {
  count: number;
  /** The right that is missing there, and who lacks it. */
  missing: string;
}

/** The clusters among which a template is placed, and how many others there are. */
export interface ShownClusters {
  shown: readonly Cluster[];
  hidden: HiddenClusters | undefined;
}

/**
 * Leaves out the clusters that a binding must not name.
 *
 * H1  Decisions are made among the clusters that are shown. So no reason, figure or message can say anything about the others.
 * H2  The others are only counted, all together: a policy that selects by labels cannot find out which labels they have.
 */
export function hideClusters(clusters: readonly Cluster[], unplaceable: Unplaceable | undefined): ShownClusters {
  if (!unplaceable) return { shown: clusters, hidden: undefined };
  const shown = clusters.filter(({ metadata }) => !unplaceable.clusters.has(metadata.name ?? ''));
  const count = clusters.length - shown.length;
  return { shown, hidden: count > 0 ? { count, missing: unplaceable.missing } : undefined };
}

/** What a binding says of them. */
export function recordHidden(
  { count, missing }: HiddenClusters,
  shown: number,
): NonNullable<ResourceBinding['spec']['hiddenClusters']> {
  const clusters = shown === 0 ? counted(count, 'cluster') : `${count} more ${count === 1 ? 'cluster' : 'clusters'}`;
  const verb = count === 1 ? 'is' : 'are';
  return { count, message: `${clusters} ${verb} not shown: no right to place there (${missing})` };
}
