import { deepEqual } from '@asterism/machinery';
import type { Predicate } from '@asterism/runtime';
import type { Cluster } from '../api/index.ts';

/** Changes of a cluster by which affinities, taints, weights or overrides may come out otherwise. A cluster tells of itself every few seconds. */
export const suitabilityChanged: Predicate<Cluster> = {
  update: (before, after) =>
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !deepEqual(before.metadata.labels, after.metadata.labels) ||
    !deepEqual(before.spec, after.spec),
};

/** The kinds, as `apps/v1/Deployment`, that a cluster has begun to serve or ceased to. */
export function kindsServedOtherwise({ status: before }: Cluster, { status: after }: Cluster): ReadonlySet<string> {
  if (deepEqual(before?.apis, after?.apis)) return new Set();
  return kindsOf(before).symmetricDifference(kindsOf(after));
}

function kindsOf(status: Cluster['status']): Set<string> {
  const apis = status?.apis ?? [];
  return new Set(apis.flatMap(({ groupVersion, resources }) => resources.map(({ kind }) => `${groupVersion}/${kind}`)));
}

/** Whether a cluster has another room than before. */
export function roomChanged({ status: before }: Cluster, { status: after }: Cluster): boolean {
  return !deepEqual(before?.resources, after?.resources) || !deepEqual(before?.nodeCapacity, after?.nodeCapacity);
}
