import type { Condition } from './object.ts';

/** What conditions of all kinds have in common. Kubernetes' older kinds do not even require it. */
export interface ConditionLike {
  type?: string;
  status?: string;
}

/** The condition of that type, if the list has one. */
export function findCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition is there and `True`; absent counts as `Unknown`, so false. */
export function isConditionTrue(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * The list with `condition` in it, in the place of the one of the same type or at the end. `lastTransitionTime` is `now`
 * when the status changes, and stays what it was when not, so a condition set again to the same is equal to the old list.
 *
 * @param now RFC 3339, UTC, whole seconds, e.g. `2026-01-02T03:04:05Z`
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: string,
): Condition[] {
  const present = conditions ?? [];
  const before = findCondition(present, condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  const next: Condition = { ...condition, lastTransitionTime };
  return before ? present.map((each) => (each === before ? next : each)) : [...present, next];
}
