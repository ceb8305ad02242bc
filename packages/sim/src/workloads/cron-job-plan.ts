import {
  type CronJob,
  type CronJobStatus,
  type CronSchedule,
  formatTime,
  isConditionTrue,
  type Job,
  type ObjectReference,
  parseCronSchedule,
} from '@asterism/machinery';
import { controllerReference } from './owned.ts';

export interface CronJobPlan {
  /** The Job of the time that has come. */
  create: Job | undefined;
  remove: Job[];
  status: CronJobStatus;
  /** What keeps a time that has come from its Job, for an event. */
  skipped: { reason: string; message: string } | undefined;
  againAfter: number | undefined;
}

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/**
 * The next step of a CronJob.
 *
 * C1. Of the times that have come since the last one only the newest gets a Job, and none that is later than
 *     `startingDeadlineSeconds` allows. The Job is named after its minute, so none is made twice.
 * C2. While one runs: Forbid waits for the next time, Replace deletes it, Allow lets both run.
 * C3. Of finished Jobs the newest stay, three that succeeded and one that failed unless it says otherwise.
 *
 * @throws Error where the schedule or the time zone cannot be read.
 */
export function planCronJob(cronJob: CronJob, jobs: readonly Job[], now: number): CronJobPlan {
  const schedule = parseCronSchedule(cronJob.spec.schedule, cronJob.spec.timeZone);
  const running = jobs.filter((job) => !isFinished(job));
  const status = statusOf(cronJob, jobs, running);
  const plan: CronJobPlan = {
    create: undefined,
    remove: surplusJobs(cronJob, jobs),
    status,
    skipped: undefined,
    againAfter: undefined,
  };
  if (cronJob.spec.suspend) return plan;
  const next = schedule.next(now);
  plan.againAfter = next === undefined ? undefined : Math.max(1, next - now);
  const due = newestDue(cronJob, schedule, now);
  if (due === undefined) return plan;
  const job = jobOf(cronJob, due);
  if (jobs.some(({ metadata }) => metadata?.name === job.metadata?.name)) {
    plan.status = { ...status, lastScheduleTime: formatTime(due) };
    return plan;
  }
  const { concurrencyPolicy } = cronJob.spec;
  if (concurrencyPolicy === 'Forbid' && running.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    plan.skipped = { reason: 'JobAlreadyActive', message };
    return plan;
  }
  if (concurrencyPolicy === 'Replace') plan.remove.push(...running);
  plan.create = job;
  plan.status = { ...status, lastScheduleTime: formatTime(due) };
  return plan;
}

export function isFinished({ status }: Job): boolean {
  return isConditionTrue(status?.conditions, 'Complete') || isConditionTrue(status?.conditions, 'Failed');
}

function newestDue(cronJob: CronJob, schedule: CronSchedule, now: number): number | undefined {
  const { lastScheduleTime } = cronJob.status ?? {};
  const since = Date.parse(lastScheduleTime ?? cronJob.metadata?.creationTimestamp ?? '');
  const { startingDeadlineSeconds } = cronJob.spec;
  const earliest =
    startingDeadlineSeconds === undefined ? since : Math.max(since, now - startingDeadlineSeconds * 1000);
  const first = schedule.next(earliest);
  if (first === undefined || first > now) return undefined;
  // From close behind backwards: the times that were missed in a long pause are not gone through one by one.
  for (let span = 60_000; ; span *= 2) {
    let due = schedule.next(Math.max(earliest, now - span));
    if (due === undefined || due > now) {
      if (now - span <= earliest) return first;
      continue;
    }
    for (let later = schedule.next(due); later !== undefined && later <= now; later = schedule.next(due)) due = later;
    return due;
  }
}

function jobOf(cronJob: CronJob, due: number): Job {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${cronJob.metadata?.name}-${Math.floor(due / 60_000)}`,
      namespace: cronJob.metadata?.namespace ?? '',
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations: { ...metadata?.annotations, [SCHEDULED_AT]: formatTime(due) },
      ownerReferences: [controllerReference(cronJob)],
    },
    ...(spec ? { spec } : {}),
  };
}

function statusOf(cronJob: CronJob, jobs: readonly Job[], running: readonly Job[]): CronJobStatus {
  const ends = jobs.map(({ status }) => status?.completionTime ?? '');
  const lastSuccessfulTime = [cronJob.status?.lastSuccessfulTime ?? '', ...ends].sort().at(-1);
  const { lastScheduleTime } = cronJob.status ?? {};
  const active = running.map(referenceTo).sort((a, b) => (a.name ?? '').localeCompare(b.name ?? ''));
  return {
    ...(active.length > 0 ? { active } : {}),
    ...(lastScheduleTime ? { lastScheduleTime } : {}),
    ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}),
  };
}

function referenceTo({ metadata }: Job): ObjectReference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion };
}

function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const ended = (type: string): Job[] =>
    jobs
      .filter(({ status }) => isConditionTrue(status?.conditions, type))
      .toSorted(
        (a, b) =>
          (b.status?.startTime ?? '').localeCompare(a.status?.startTime ?? '') ||
          (b.metadata?.name ?? '').localeCompare(a.metadata?.name ?? ''),
      );
  return [
    ...ended('Complete').slice(spec.successfulJobsHistoryLimit ?? 3),
    ...ended('Failed').slice(spec.failedJobsHistoryLimit ?? 1),
  ];
}
