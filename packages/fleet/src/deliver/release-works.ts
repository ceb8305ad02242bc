import { type Predicate, type ReconcileContext, removeFinalizer, type Request } from '@asterism/runtime';
import { BINDING_UID_LABEL, WORKS, type Work } from '../api/index.ts';
import type { DeliveryView } from './delivery-view.ts';
import { isRemoved } from './report/work-status.ts';
import { clusterOfWork, EXECUTOR_FINALIZER } from './works/work-object.ts';
import { deleteWork } from './works/works.ts';

/** What a Work wants, or the news that it is done with. */
export const wishOrEndChanged: Predicate<Work> = {
  update: (before, after) =>
    before.metadata.generation !== after.metadata.generation || isRemoved(before) !== isRemoved(after),
};

/** Whether there is something to do for {@link releaseWork} by now; bindings and clusters that go later ask for their Works. */
export function mayGo(view: DeliveryView, work: Work): boolean {
  const { abandoned, orphaned } = whoIsGone(view, work);
  return abandoned || orphaned || (work.metadata.deletionTimestamp !== undefined && isRemoved(work));
}

function whoIsGone(view: DeliveryView, work: Work): { abandoned: boolean; orphaned: boolean } {
  const uid = work.metadata.labels?.[BINDING_UID_LABEL];
  return {
    abandoned: view.cluster(clusterOfWork(work)) === undefined,
    orphaned: uid !== undefined && !view.bindings.withUid(uid),
  };
}

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
  const { abandoned, orphaned } = whoIsGone(view, work);
  if (!work.metadata.deletionTimestamp && (abandoned || orphaned)) {
    logger.info({}, abandoned ? 'the cluster of this Work is gone' : 'the binding of this Work is gone');
    await deleteWork(cluster.client, work, signal);
  }
  if (abandoned || (work.metadata.deletionTimestamp && isRemoved(work))) {
    await removeFinalizer(cluster.client, { type: WORKS, object: work, finalizer: EXECUTOR_FINALIZER, signal });
  }
}
