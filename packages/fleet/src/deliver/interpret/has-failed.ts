import { conditionOf, type Status, textOf } from './status-fields.ts';

/** Conditions by which controllers, of Deployments, ReplicaSets, Jobs and of kinds that follow kstatus, say that they get no further. */
const FAILURES: readonly [type: string, status: string][] = [
  ['Progressing', 'False'],
  ['ReplicaFailure', 'True'],
  ['Failed', 'True'],
  ['Stalled', 'True'],
];

/** Whether an object's status says by itself that something went wrong, rather than that it is not done yet. */
export function hasFailed(status: Status | undefined): boolean {
  if (textOf(status, 'phase') === 'Failed') return true;
  return FAILURES.some(([type, value]) => conditionOf(status, type)?.status === value);
}
