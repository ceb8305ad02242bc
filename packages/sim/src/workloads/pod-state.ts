import { findCondition, isConditionTrue, type Pod } from '@asterism/machinery';

/** Counts towards the replicas that its owner wants: not finished, not on its way out. */
export function isActive(pod: Pod): boolean {
  return (
    pod.metadata?.deletionTimestamp === undefined && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed'
  );
}

export function isReady(pod: Pod): boolean {
  return isConditionTrue(pod.status?.conditions, 'Ready');
}

/** Ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return false;
  return minReadySeconds === 0 || Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000 <= now;
}

/** In how many ms the next of these pods becomes available by the time alone; undefined where none will. */
export function untilAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined;
  const waits = pods
    .filter((pod) => isReady(pod) && !isAvailable(pod, minReadySeconds, now))
    .map(({ status }) => Date.parse(findCondition(status?.conditions, 'Ready')?.lastTransitionTime ?? ''))
    .map((since) => since + minReadySeconds * 1000 - now)
    .filter((wait) => wait > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

/**
 * The order in which pods are given up when there are too many: unscheduled before scheduled, pending before running, not
 * ready before ready, younger before older, then by name, so that the same pods are chosen however often it is asked.
 */
export function compareForDeletion(a: Pod, b: Pod): number {
  const rank = (pod: Pod): number => {
    if (!pod.spec?.nodeName) return 0;
    if (pod.status?.phase !== 'Running') return 1;
    return isReady(pod) ? 3 : 2;
  };
  return (
    rank(a) - rank(b) ||
    Date.parse(b.metadata?.creationTimestamp ?? '') - Date.parse(a.metadata?.creationTimestamp ?? '') ||
    (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? '')
  );
}
