import { isConditionTrue, type Job, type JobStatus, type Pod } from '@asterism/machinery';
import { formatIndexes, parseIndexes } from './completion-indexes.ts';
import { failuresBefore, hasFailed, hasSucceeded, indexOf, isIndexed, isTracked } from './job-pods.ts';
import { judgePodFailure } from './pod-failure-policy.ts';

/** What the pods of a Job have come to. */
export interface JobTally {
  /** The counters as they are to be written. */
  status: Pick<JobStatus, 'succeeded' | 'failed' | 'completedIndexes' | 'failedIndexes' | 'uncountedTerminatedPods'>;
  /** With those that are written down but not yet counted. */
  succeeded: number;
  failed: number;
  completed: Set<number>;
  failedIndexes: Set<number>;
  /** Why the pod failure policy ends the Job. */
  fatal: string | undefined;
  /** Pods to let go once the status is written. */
  release: Pod[];
}

/**
 * Counts each pod that has ended once, however often it is asked and wherever it was interrupted.
 *
 * T1. A pod that has ended and still has the finalizer is written down in `uncountedTerminatedPods`.
 * T2. Then it loses the finalizer.
 * T3. One that is written down and has no finalizer, or is gone, is counted.
 * In an Indexed Job an index is completed once, whoever completed it.
 */
export function tallyJob(job: Job, pods: readonly Pod[]): JobTally {
  const before = job.status ?? {};
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata?.uid ?? '', pod]));
  const written = {
    succeeded: before.uncountedTerminatedPods?.succeeded ?? [],
    failed: before.uncountedTerminatedPods?.failed ?? [],
  };
  const open = { succeeded: [] as string[], failed: [] as string[] };
  const counted = { succeeded: before.succeeded ?? 0, failed: before.failed ?? 0 };
  for (const kind of ['succeeded', 'failed'] as const) {
    for (const uid of written[kind]) {
      if (tracked.has(uid)) open[kind].push(uid);
      else counted[kind] += 1;
    }
  }
  const completed = parseIndexes(before.completedIndexes);
  const failedIndexes = parseIndexes(before.failedIndexes);
  const known = new Set([...written.succeeded, ...written.failed]);
  let fatal: string | undefined;
  // Of a Job that is over nothing is counted any more; its pods are only let go.
  for (const [uid, pod] of isOver(job) ? [] : tracked) {
    if (hasSucceeded(pod)) {
      const index = indexOf(pod);
      if (isIndexed(job) && (index === undefined || completed.has(index) || index >= (job.spec?.completions ?? 0)))
        continue;
      if (index !== undefined) completed.add(index);
      if (!known.has(uid)) open.succeeded.push(uid);
    } else if (hasFailed(job, pod)) {
      const { action, message } = judgePodFailure(job, pod);
      if (action === 'FailJob') fatal ??= message;
      noteIndexFailure(job, pod, action, failedIndexes);
      if (action !== 'Ignore' && !known.has(uid) && !job.spec?.suspend) open.failed.push(uid);
    }
  }
  for (const index of completed) failedIndexes.delete(index);
  const indexed = isIndexed(job);
  return {
    status: {
      ...countsOf(indexed ? Math.max(0, completed.size - open.succeeded.length) : counted.succeeded, counted.failed),
      ...(indexed && completed.size > 0 ? { completedIndexes: formatIndexes(completed) } : {}),
      ...(job.spec?.backoffLimitPerIndex === undefined ? {} : { failedIndexes: formatIndexes(failedIndexes) }),
      uncountedTerminatedPods: {
        ...(open.succeeded.length > 0 ? { succeeded: open.succeeded } : {}),
        ...(open.failed.length > 0 ? { failed: open.failed } : {}),
      },
    },
    succeeded: indexed ? completed.size : counted.succeeded + open.succeeded.length,
    failed: counted.failed + open.failed.length,
    completed,
    failedIndexes,
    fatal,
    release: [...tracked.values()].filter((pod) => hasSucceeded(pod) || hasFailed(job, pod)),
  };
}

/** It is complete or has failed, for good. */
export function isOver({ status }: Job): boolean {
  return isConditionTrue(status?.conditions, 'Complete') || isConditionTrue(status?.conditions, 'Failed');
}

/** Go leaves zeros out of a Job's status, and clients compare. */
function countsOf(succeeded: number, failed: number): { succeeded?: number; failed?: number } {
  return { ...(succeeded > 0 ? { succeeded } : {}), ...(failed > 0 ? { failed } : {}) };
}

function noteIndexFailure(job: Job, pod: Pod, action: string, failedIndexes: Set<number>): void {
  const limit = job.spec?.backoffLimitPerIndex;
  const index = indexOf(pod);
  if (limit === undefined || index === undefined || action === 'Ignore') return;
  if (action === 'FailIndex' || failuresBefore(pod) >= limit) failedIndexes.add(index);
}
