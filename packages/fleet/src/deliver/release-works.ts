import { type Predicate, type ReconcileContext, removeFinalizer, type Request } from '@asterism/runtime';
import { BINDING_UID_LABEL, WORKS, type Work } from '../api/index.ts';
import type { DeliveryView } from './delivery-view.ts';
import { clusterOfWork, EXECUTOR_FINALIZER } from './work-object.ts';
import { isRemoved } from './work-status.ts';
import { deleteWork } from './works.ts';

/** What a Work wants, or the news that it is done with. */
export const wishOrEndChanged: Predicate<Work> = {
  update: (before, after) =>
    before.metadata.generation !== after.metadata.generation || isRemoved(before) !== isRemoved(after),
};

/**
 * Lets Works go. An agent only writes status, so it is here that the finalizer of its Works falls; the hub's own executor takes it
 * off by itself.
 *
 * R1  A Work whose binding is gone is deleted. One that somebody wrote by hand belongs to no binding and is left alone.
 * R2  A Work that is deleted goes when its executor says that nothing of it stands in the cluster any more,
 * R3  or when the cluster is gone from the fleet: nobody is left who could clean up there.
 */
export async function releaseWork(
  view: DeliveryView,
  request: Request,
  { cluster, signal, logger }: ReconcileContext,
): Promise<void> {
  const work = view.works.get(request);
  if (!work) return;
  const uid = work.metadata.labels?.[BINDING_UID_LABEL];
  const abandoned = view.cluster(clusterOfWork(work)) === undefined;
  const orphaned = uid !== undefined && !view.bindings.withUid(uid);
  if (!work.metadata.deletionTimestamp && (abandoned || orphaned)) {
    logger.info({}, abandoned ? 'the cluster of this Work is gone' : 'the binding of this Work is gone');
    await deleteWork(cluster.client, work, signal);
  }
  if (abandoned || (work.metadata.deletionTimestamp && isRemoved(work))) {
    await removeFinalizer(cluster.client, { type: WORKS, object: work, finalizer: EXECUTOR_FINALIZER, signal });
  }
}
