import type { Pod, StatefulSet } from '@asterism/machinery';
import { isAvailable } from './pod-state.ts';
import { podsOf } from './rollout.ts';

/** The revisions that the pods of a StatefulSet have, or are to have; names of ControllerRevisions. */
export interface Revisions {
  current: string;
  update: string;
}

export interface StatefulSetPlan {
  /** Pods to make, by ordinal, each of the revision `current` or `update`. */
  create: { ordinal: number; revision: string }[];
  remove: Pod[];
}

interface Replica {
  ordinal: number;
  pod: Pod | undefined;
}

/**
 * The next step of a StatefulSet.
 *
 * S1. Ordinals begin at `spec.ordinals.start`. OrderedReady: one step at a time, the lowest first; nothing above an ordinal
 *     happens before its pod is available, and pods go from the highest down.
 * S2. Parallel: all at once, both ways.
 * S3. A pod that has ended is replaced. What is on its way out is waited for: its name is its identity.
 * S4. RollingUpdate: from the highest ordinal down to the partition, no more than `maxUnavailable` (1) not available among those that were
 *     looked at. Below the
 *     partition a pod that is made anew is made of the current revision. OnDelete: pods keep their revision until somebody
 *     deletes them.
 */
export function planStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  now: number,
): StatefulSetPlan {
  const plan: StatefulSetPlan = { create: [], remove: [] };
  const { start, end, ordered, partition } = shapeOf(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod] as const));
  const replicas: Replica[] = [];
  for (let ordinal = start; ordinal < end; ordinal += 1) replicas.push({ ordinal, pod: byOrdinal.get(ordinal) });
  const condemned = [...byOrdinal.entries()]
    .filter(([ordinal]) => ordinal !== undefined && (ordinal < start || ordinal >= end))
    .sort(([a = 0], [b = 0]) => b - a)
    .map(([, pod]) => pod);
  const isHealthy = (pod: Pod): boolean => !isTerminating(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
  for (const { ordinal, pod } of replicas) {
    if (pod === undefined) {
      const isOld = set.spec?.updateStrategy?.type !== 'OnDelete' && ordinal < start + partition;
      plan.create.push({ ordinal, revision: isOld ? revisions.current : revisions.update });
    } else if (hasEnded(pod) && !isTerminating(pod)) {
      plan.remove.push(pod);
    }
    if (ordered && (pod === undefined || !isHealthy(pod))) return plan;
  }
  for (const pod of condemned) {
    if (!isTerminating(pod)) plan.remove.push(pod);
    if (ordered) return plan;
  }
  if (set.spec?.updateStrategy?.type !== 'OnDelete') plan.remove.push(...outdated(set, replicas, revisions, isHealthy));
  return plan;
}

function outdated(
  set: StatefulSet,
  replicas: readonly Replica[],
  revisions: Revisions,
  isHealthy: (pod: Pod) => boolean,
): Pod[] {
  const { start, partition } = shapeOf(set);
  const limit = Math.max(
    1,
    podsOf(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, replicas.length, 'up'),
  );
  const remove: Pod[] = [];
  let disrupted = 0;
  for (const { ordinal, pod } of replicas.toReversed()) {
    if (ordinal < start + partition || disrupted >= limit) break;
    const isOld = pod !== undefined && !isTerminating(pod) && revisionOfPod(pod) !== revisions.update;
    if (isOld && !hasEnded(pod)) remove.push(pod);
    if (isOld || pod === undefined || !isHealthy(pod)) disrupted += 1;
  }
  return remove;
}

function shapeOf({ spec }: StatefulSet): { start: number; end: number; ordered: boolean; partition: number } {
  const start = spec?.ordinals?.start ?? 0;
  return {
    start,
    end: start + (spec?.replicas ?? 1),
    ordered: spec?.podManagementPolicy !== 'Parallel',
    partition: spec?.updateStrategy?.rollingUpdate?.partition ?? 0,
  };
}

export const isTerminating = (pod: Pod): boolean => pod.metadata?.deletionTimestamp !== undefined;

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

/** The name of the revision that a pod was made of. */
export function revisionOfPod(pod: Pod): string {
  return pod.metadata?.labels?.['controller-revision-hash'] ?? '';
}

/** Undefined for a pod that bears no name of this set. */
export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${metadata?.name}-`;
  const { name = '' } = pod.metadata ?? {};
  const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d+$/.test(rest) ? Number(rest) : undefined;
}
