import type { Pod, StatefulSet, StatefulSetStatus } from '@asterism/machinery';
import { isAvailable, isReady } from './pod-state.ts';
import { type Revisions, isTerminating, revisionOfPod } from './stateful-set-plan.ts';

/** What a StatefulSet says of itself; `rollout status` and `wait` read it. */
export function statefulSetStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  now: number,
): StatefulSetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const kept = pods.filter((pod) => !isTerminating(pod));
  const ofRevision = (revision: string): number => kept.filter((pod) => revisionOfPod(pod) === revision).length;
  const counts = {
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    updatedReplicas: ofRevision(revisions.update),
    currentReplicas: ofRevision(revisions.current),
  };
  const isComplete =
    set.spec?.updateStrategy?.type !== 'OnDelete' &&
    counts.updatedReplicas === counts.replicas &&
    counts.readyReplicas === counts.replicas &&
    counts.replicas === (set.spec?.replicas ?? 1);
  const currentReplicas = isComplete ? counts.updatedReplicas : counts.currentReplicas;
  return {
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: counts.replicas,
    ...nonZero({ readyReplicas: counts.readyReplicas, currentReplicas, updatedReplicas: counts.updatedReplicas }),
    availableReplicas: pods.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    currentRevision: isComplete ? revisions.update : revisions.current,
    updateRevision: revisions.update,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}

/** Go leaves zeros out, and clients compare. */
function nonZero<T extends Record<string, number>>(counts: T): Partial<T> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)) as Partial<T>;
}
