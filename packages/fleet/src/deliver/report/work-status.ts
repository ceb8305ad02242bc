import { type Condition, findCondition, isConditionTrue, setCondition } from '@asterism/machinery';
import type { ManifestStatus, Work } from '../../api/index.ts';
import { formatManifestRef } from '../works/manifest-ref.ts';
import { DISPATCHING_SUSPENDED, SUSPEND_DISPATCHING } from '../works/suspended.ts';

type WorkStatus = NonNullable<Work['status']>;

/** The status of a Work from what became of its manifests. The same manifests give the same status. */
export function workStatus(work: Work, manifestStatuses: ManifestStatus[], now: string): WorkStatus {
  const { generation } = work.metadata;
  const applied = setCondition(work.status?.conditions, appliedCondition(manifestStatuses), now);
  const dispatching = dispatchingCondition(work);
  const conditions = dispatching ? setCondition(applied, dispatching, now) : applied;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditions as NonNullable<WorkStatus['conditions']>,
    manifestStatuses,
  };
}

const REMOVED = 'Removed';

/** The status of a deleted Work of which nothing stands in the cluster any more, or nothing that is still ours. */
export function removedStatus(work: Work, now: string): WorkStatus {
  const message = work.spec.preserveResourcesOnDeletion
    ? 'its objects stay in the cluster and are managed no more'
    : 'its objects are removed from the cluster';
  const { generation } = work.metadata;
  const removed = { type: REMOVED, status: 'True', reason: REMOVED, message } as const;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: setCondition(work.status?.conditions, removed, now) as NonNullable<WorkStatus['conditions']>,
    manifestStatuses: [],
  };
}

export function isRemoved({ status }: Work): boolean {
  return isConditionTrue(status?.conditions, REMOVED);
}

/** Said of a Work that is held back, and of one that was. */
function dispatchingCondition({ spec, status }: Work): Omit<Condition, 'lastTransitionTime'> | undefined {
  const type = 'Dispatching';
  if (spec.suspendDispatching) {
    return { type, status: 'False', reason: SUSPEND_DISPATCHING, message: DISPATCHING_SUSPENDED };
  }
  if (!findCondition(status?.conditions, type)) return undefined;
  return { type, status: 'True', reason: 'Dispatching', message: 'what the Work says is brought to the cluster' };
}

function appliedCondition(manifests: readonly ManifestStatus[]): Omit<Condition, 'lastTransitionTime'> {
  const failed = manifests.filter(({ applied }) => !applied);
  const type = 'Applied';
  if (failed.length === 0) {
    const message = manifests.length === 1 ? 'the object is applied' : `all ${manifests.length} objects are applied`;
    return { type, status: 'True', reason: 'Applied', message };
  }
  const messages = failed.map((manifest) => manifest.message ?? `${formatManifestRef(manifest)} is not applied`);
  return { type, status: 'False', reason: 'NotApplied', message: messages.join('; ') };
}
