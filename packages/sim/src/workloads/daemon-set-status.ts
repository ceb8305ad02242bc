import type { DaemonSet, DaemonSetStatus, Node, Pod } from '@asterism/machinery';
import { daemonOn, nodeOf, POD_HASH_LABEL } from './daemon-set-plan.ts';
import { isAvailable, isReady } from './pod-state.ts';

/** What a DaemonSet says of itself; `rollout status` reads it. Of the pods on a node the oldest counts. */
export function daemonSetStatus(
  set: DaemonSet,
  nodes: readonly Node[],
  pods: readonly Pod[],
  hash: string,
  now: number,
): DaemonSetStatus {
  const byNode = Map.groupBy(
    pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined),
    nodeOf,
  );
  const counts = { current: 0, desired: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const node of nodes) {
    const here = byNode.get(node.metadata?.name) ?? [];
    if (!daemonOn(set, node).starts) {
      if (here.length > 0) counts.misscheduled += 1;
      continue;
    }
    counts.desired += 1;
    if (here.length === 0) continue;
    counts.current += 1;
    if (here.some(isReady)) counts.ready += 1;
    if (here.some((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now))) counts.available += 1;
    if (here.some(({ metadata }) => metadata?.labels?.[POD_HASH_LABEL] === hash)) counts.updated += 1;
  }
  const unavailable = counts.desired - counts.available;
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    observedGeneration: set.metadata?.generation ?? 0,
    ...(counts.updated > 0 ? { updatedNumberScheduled: counts.updated } : {}),
    ...(counts.available > 0 ? { numberAvailable: counts.available } : {}),
    ...(unavailable > 0 ? { numberUnavailable: unavailable } : {}),
  };
}
