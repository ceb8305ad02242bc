import { findCondition } from '@asterism/machinery';
import type { Predicate } from '@asterism/runtime';
import type { Cluster } from '../api/index.ts';

/** Whether a cluster gives no answer, or cannot work, as the hub knows it. One of which nothing is known yet is new, not away. */
export function isAway({ status }: Cluster): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready !== undefined && ready.status !== 'True';
}

/** A cluster that goes away, or comes back. */
export const presenceChanged: Predicate<Cluster> = {
  create: () => false,
  update: (before, after) => isAway(before) !== isAway(after),
  delete: () => false,
};
