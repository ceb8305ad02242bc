import { type Condition, findCondition, formatTime, setCondition } from '@asterism/machinery';
import { type Cluster, LEAVE_ANNOTATION, LEAVE_FINALIZER } from '../../api/index.ts';

/** What becomes of what was placed in a cluster that leaves: it is taken out, or it stays and is managed no more. */
export type LeaveMode = 'Drain' | 'Keep';

/** How a cluster leaves that leaves in order; undefined where it stays, or is simply deleted. */
export function leaveOf({ metadata }: Cluster): LeaveMode | undefined {
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(LEAVE_FINALIZER)) return undefined;
  return metadata.annotations?.[LEAVE_ANNOTATION] === 'Keep' ? 'Keep' : 'Drain';
}

/** The hub's word on how far a cluster is. */
export const LEAVING = 'Leaving';
/** Reasons of {@link LEAVING}, in order. */
export type LeavingReason = 'Draining' | 'TakingOutJoin';

/** The word of whoever takes it out, the agent or (in Push) the hub, on what the join made in the member. */
export const JOIN_TAKEN_OUT = 'JoinTakenOut';
/**
 * Reasons of {@link JOIN_TAKEN_OUT}. `Begun`: everything hangs on one object that is deleted next, so an agent that is not heard of
 * any more, or a member that knows the hub no more, has most likely done it.
 */
export type JoinTakenOutReason = 'Begun' | 'Done' | 'Failed';
export const BEGUN_MESSAGE = 'all that the join made hangs on the binding that is deleted next';

/** How far a cluster is that leaves, in words; undefined where nobody has looked yet. */
export function leavingMessage({ status }: Cluster): string | undefined {
  const leaving = findCondition(status?.conditions, LEAVING);
  const takenOut = findCondition(status?.conditions, JOIN_TAKEN_OUT);
  return takenOut?.reason === 'Failed' ? `${leaving?.message}: ${takenOut.message}` : leaving?.message;
}

/** The condition as it is to be written; undefined where it says so already. */
export function changedCondition(
  { status }: Cluster,
  condition: Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>,
  now: number,
): Condition | undefined {
  const before = findCondition(status?.conditions, condition.type);
  const { status: is, reason, message } = condition;
  if (before && before.status === is && before.reason === reason && before.message === message) return undefined;
  const after = setCondition(status?.conditions, condition, formatTime(now));
  return findCondition(after, condition.type);
}
