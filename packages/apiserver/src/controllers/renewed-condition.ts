import { formatTime } from '@asterism/machinery';

export interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/** The condition to write, or undefined where it is there as it should be. Its time is that of its last change of status. */
export function renewedCondition(
  conditions: readonly Condition[] = [],
  clock: () => number,
  { type, status, reason, message }: Omit<Condition, 'lastTransitionTime'>,
): Condition | undefined {
  const old = conditions.find((each) => each.type === type);
  if (old?.status === status && old.reason === reason && old.message === message) return undefined;
  const since = old?.status === status ? old.lastTransitionTime : undefined;
  return {
    type,
    status,
    lastTransitionTime: since ?? formatTime(clock()),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
