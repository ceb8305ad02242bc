import {
  findCondition,
  formatTime,
  isConditionTrue,
  type Job,
  type JobCondition,
  type JobStatus,
  type Pod,
} from '@asterism/machinery';
import { parseIndexes } from './completion-indexes.ts';
import { endOf, failuresBefore, freePodName, hasFailed, hasSucceeded, indexOf, isIndexed } from './job-pods.ts';
import { isOver as isJobOver, type JobTally, tallyJob } from './job-tally.ts';
import { compareForDeletion, isActive, isReady } from './pod-state.ts';

export interface JobPlan {
  status: JobStatus;
  create: { name: string; index?: number; failures?: number }[];
  remove: Pod[];
  /** Pods to let go after the status is written. */
  release: Pod[];
  /** The Job itself is to go: it is over for `ttlSecondsAfterFinished`. */
  expired: boolean;
  /** In how many ms time alone changes the plan. */
  againAfter: number | undefined;
}

interface Verdict {
  type: 'SuccessCriteriaMet' | 'FailureTarget';
  reason: string;
  message: string;
}

const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;

/**
 * The next step of a Job.
 *
 * J1. It is decided first (`SuccessCriteriaMet`, `FailureTarget`), and over (`Complete`, `Failed`) when none of its pods runs any
 *     more and all are counted.
 * J2. Never more than `parallelism` pods, nor more than completions are missing; in an Indexed Job one for an index.
 * J3. After failures new pods wait: 10 s, then twice as long for each more, 10 minutes at most.
 * J4. A suspended Job has no pods, and its time begins anew when it goes on.
 */
export function planJob(job: Job, pods: readonly Pod[], now: number): JobPlan {
  const tally = tallyJob(job, pods);
  const active = pods.filter(isActive);
  const conditions = [...(job.status?.conditions ?? [])];
  const isSuspended = job.spec?.suspend === true;
  const startTime = startOf(job, now);
  const isOver = isJobOver(job);
  if (!isOver) decide(job, { tally, active, conditions, startTime }, now);
  const verdict = conditions.find(({ type, status }) => status === 'True' && DECIDED.has(type));
  const isDecided = verdict !== undefined;
  if (!isDecided && !isOver) sayWhetherSuspended(job, conditions, now);
  const halts = isOver || isDecided || isSuspended;
  const terminating = pods.filter(isLeaving).length;
  const open = tally.status.uncountedTerminatedPods ?? {};
  const isQuiet = active.length === 0 && terminating === 0 && !open.succeeded && !open.failed;
  const ends = isDecided && !isOver && isQuiet;
  if (ends) {
    const type = verdict.type === 'FailureTarget' ? 'Failed' : 'Complete';
    conditions.push(condition({ type, reason: verdict.reason ?? '', message: verdict.message ?? '' }, now));
  }
  const isComplete = isConditionTrue(conditions, 'Complete');
  const next = halts ? { create: [], remove: active, wait: undefined } : nextPods(job, pods, active, tally, now);
  const running = isOver ? 0 : active.length - next.remove.length + next.create.length;
  const status: JobStatus = {
    ...(running > 0 ? { active: running } : {}),
    ...tally.status,
    ready: Math.min(running, active.filter((pod) => isReady(pod) && !next.remove.includes(pod)).length),
    terminating: isOver || ends ? 0 : terminating + next.remove.length,
    ...(startTime === undefined ? {} : { startTime }),
    ...(isComplete ? { completionTime: job.status?.completionTime ?? formatTime(now) } : {}),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
  const expiresIn = isOver ? ttlLeft(job, conditions, now) : undefined;
  return {
    status,
    create: next.create,
    remove: next.remove,
    release: tally.release,
    expired: expiresIn !== undefined && expiresIn <= 0,
    againAfter: earliest([next.wait, isOver || isDecided ? undefined : deadlineLeft(job, startTime, now), expiresIn]),
  };
}

const DECIDED: ReadonlySet<string> = new Set(['SuccessCriteriaMet', 'FailureTarget']);

const isLeaving = ({ metadata, status }: Pod): boolean =>
  metadata?.deletionTimestamp !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

function condition(
  { type, reason, message }: { type: string; reason: string; message: string },
  now: number,
  status = 'True',
): JobCondition {
  const time = formatTime(now);
  return { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
}

function startOf(job: Job, now: number): string | undefined {
  if (job.spec?.suspend && !isJobOver(job)) return undefined;
  return job.status?.startTime ?? formatTime(now);
}

function sayWhetherSuspended(job: Job, conditions: JobCondition[], now: number): void {
  const before = findCondition(conditions, 'Suspended');
  const isSuspended = job.spec?.suspend === true;
  if (isSuspended ? before?.status === 'True' : before === undefined || before.status === 'False') return;
  const said = isSuspended
    ? condition({ type: 'Suspended', reason: 'JobSuspended', message: 'Job suspended' }, now)
    : condition({ type: 'Suspended', reason: 'JobResumed', message: 'Job resumed' }, now, 'False');
  if (before === undefined) conditions.push(said);
  else conditions[conditions.indexOf(before)] = said;
}

interface Standing {
  tally: JobTally;
  active: readonly Pod[];
  conditions: JobCondition[];
  startTime: string | undefined;
}

function decide(job: Job, standing: Standing, now: number): void {
  if (standing.conditions.some(({ type, status }) => status === 'True' && DECIDED.has(type))) return;
  const verdict = failureOf(job, standing, now) ?? successOf(job, standing);
  if (verdict !== undefined) standing.conditions.push(condition(verdict, now));
}

function failureOf(job: Job, { tally, startTime, active }: Standing, now: number): Verdict | undefined {
  const failure = (reason: string, message: string): Verdict => ({ type: 'FailureTarget', reason, message });
  const { spec } = job;
  if (tally.fatal !== undefined) return failure('PodFailurePolicy', tally.fatal);
  if (tally.failed > (spec?.backoffLimit ?? 6) || hasRestartedTooOften(job, active)) {
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  const left = deadlineLeft(job, startTime, now);
  if (left !== undefined && left <= 0) {
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  }
  if (spec?.backoffLimitPerIndex === undefined) return undefined;
  if (tally.failedIndexes.size > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  const isAllSaid = tally.completed.size + tally.failedIndexes.size >= (spec.completions ?? 1);
  return tally.failedIndexes.size > 0 && isAllSaid ? failure('FailedIndexes', 'Job has failed indexes') : undefined;
}

/** Where the kubelet restarts containers in place (`OnFailure`), each restart is a failure. */
function hasRestartedTooOften({ spec }: Job, active: readonly Pod[]): boolean {
  if (spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  const statuses = active.flatMap(({ status }) => [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ]);
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return spec.backoffLimit === 0 ? restarts > 0 : restarts >= (spec.backoffLimit ?? 6);
}

function successOf(job: Job, { tally, active }: Standing): Verdict | undefined {
  const { spec } = job;
  for (const [index, { succeededIndexes, succeededCount }] of (spec?.successPolicy?.rules ?? []).entries()) {
    const asked = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes);
    const met = [...tally.completed].filter((each) => asked === undefined || asked.has(each)).length;
    if (met >= (succeededCount ?? asked?.size ?? Number.POSITIVE_INFINITY)) {
      return { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: `Matched rules at index ${index}` };
    }
  }
  const isEnough =
    spec?.completions === undefined ? tally.succeeded > 0 && active.length === 0 : tally.succeeded >= spec.completions;
  const message = 'Reached expected number of succeeded pods';
  return isEnough && !spec?.suspend ? { type: 'SuccessCriteriaMet', reason: 'CompletionsReached', message } : undefined;
}

function nextPods(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  tally: JobTally,
  now: number,
): { create: JobPlan['create']; remove: Pod[]; wait: number | undefined } {
  const { parallelism = 1, completions, podReplacementPolicy } = job.spec ?? {};
  const missing = completions === undefined ? undefined : completions - tally.succeeded - tally.failedIndexes.size;
  const wanted =
    missing === undefined
      ? tally.succeeded > 0
        ? Math.min(parallelism, active.length)
        : parallelism
      : Math.min(parallelism, missing);
  const useless = isIndexed(job) ? uselessPods(active, completions ?? 0, tally) : [];
  const useful = active.filter((pod) => !useless.includes(pod));
  const surplus = useful.toSorted(compareForDeletion).slice(0, Math.max(0, useful.length - wanted));
  const remove = [...useless, ...surplus];
  const awaited = podReplacementPolicy === 'Failed' ? pods.filter(isLeaving) : [];
  const count = wanted - useful.length - awaited.length;
  if (count <= 0) return { create: [], remove, wait: undefined };
  const wait = backoffLeft(pods, now);
  if (wait > 0) return { create: [], remove, wait };
  const taken = new Set(pods.map(({ metadata }) => metadata?.name));
  if (!isIndexed(job)) {
    return {
      create: Array.from({ length: count }, () => ({ name: freePodName(job, undefined, taken) })),
      remove,
      wait: undefined,
    };
  }
  const busy = new Set([...useful, ...awaited].map(indexOf));
  const create: JobPlan['create'] = [];
  for (let index = 0; index < (completions ?? 0) && create.length < count; index += 1) {
    if (busy.has(index) || tally.completed.has(index) || tally.failedIndexes.has(index)) continue;
    create.push({ name: freePodName(job, index, taken), index, failures: failuresOf(job, pods, index) });
  }
  return { create, remove, wait: undefined };
}

/** Second pods of an index, and those of an index that is done or does not exist. */
function uselessPods(active: readonly Pod[], completions: number, { completed, failedIndexes }: JobTally): Pod[] {
  const seen = new Set<number>();
  return active.filter((pod) => {
    const index = indexOf(pod);
    if (index === undefined || index >= completions || completed.has(index) || failedIndexes.has(index)) return true;
    if (seen.has(index)) return true;
    seen.add(index);
    return false;
  });
}

function failuresOf(job: Job, pods: readonly Pod[], index: number): number {
  const failed = pods.filter((pod) => indexOf(pod) === index && hasFailed(job, pod));
  return Math.max(0, ...failed.map((pod) => failuresBefore(pod) + 1));
}

/** How long new pods still wait for those that failed since the last success. */
function backoffLeft(pods: readonly Pod[], now: number): number {
  const lastSuccess = Math.max(0, ...pods.filter(hasSucceeded).map(endOf));
  const failures = pods.filter((pod) => pod.status?.phase === 'Failed' && endOf(pod) >= lastSuccess).map(endOf);
  if (failures.length === 0) return 0;
  const delay = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures.length - 1));
  return Math.max(...failures) + delay - now;
}

function deadlineLeft({ spec }: Job, startTime: string | undefined, now: number): number | undefined {
  if (spec?.activeDeadlineSeconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + spec.activeDeadlineSeconds * 1000 - now;
}

function ttlLeft({ spec }: Job, conditions: readonly JobCondition[], now: number): number | undefined {
  if (spec?.ttlSecondsAfterFinished === undefined) return undefined;
  const end = conditions.find(({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'));
  return Date.parse(end?.lastTransitionTime ?? '') + spec.ttlSecondsAfterFinished * 1000 - now;
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined && time > 0) as number[];
  return known.length > 0 ? Math.min(...known) : undefined;
}
