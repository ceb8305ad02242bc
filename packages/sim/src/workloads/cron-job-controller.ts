import type { Client, Clock } from '@asterism/client';
import {
  CRON_JOBS,
  type CronJob,
  type CronJobStatus,
  deepEqual,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type Job,
  JOBS,
  type ObjectReference,
} from '@asterism/machinery';
import { createController, type Manager, type Result } from '@asterism/runtime';
import { type CronJobPlan, planCronJob } from './cron-job-plan.ts';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';
import { BY_CONTROLLER, indexByController } from './owned.ts';

/** Nothing waits longer without looking again: a timer takes 24 days at most, and clocks are set. */
const LONGEST_WAIT_MS = 3_600_000;

/** Makes Jobs by the clock: see `planCronJob` for the rules. */
export function addCronJobController(manager: Manager, clock: Clock): void {
  const jobs = manager.local.cache.informer(JOBS);
  jobs.addIndex(BY_CONTROLLER, indexByController);
  const events = createEventRecorder(manager.local.client, 'cronjob-controller', clock);
  manager.add(
    createController({
      name: 'cronjob',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster }): Promise<Result | void> {
        const cronJob = cluster.cache.get(CRON_JOBS, { namespace, name });
        if (cronJob === undefined || cronJob.metadata?.deletionTimestamp) return;
        const owned = jobs.store.byIndex(BY_CONTROLLER, cronJob.metadata?.uid ?? '');
        const plan = planned(cronJob, owned, clock.wall().getTime(), events);
        if (plan === undefined) return;
        const { client } = cluster;
        if (plan.skipped) events.record(cronJob, 'Normal', plan.skipped.reason, plan.skipped.message);
        await Promise.all(plan.remove.map((job) => remove(client, cronJob, job, events)));
        if (plan.create) await create(client, cronJob, plan.create, events);
        await writeStatus(client, cronJob, plan.status);
        const { againAfter } = plan;
        return againAfter === undefined ? undefined : { requeueAfter: Math.min(againAfter, LONGEST_WAIT_MS) };
      },
    })
      .for(CRON_JOBS)
      .owns(JOBS),
  );
}

/** Undefined for a schedule that cannot be read: nothing but a change of the CronJob helps. */
function planned(cronJob: CronJob, jobs: readonly Job[], now: number, events: EventRecorder): CronJobPlan | undefined {
  try {
    return planCronJob(cronJob, jobs, now);
  } catch (error) {
    const { schedule } = cronJob.spec;
    events.record(cronJob, 'Warning', 'UnparseableSchedule', `unparseable schedule: ${schedule} : ${String(error)}`);
    return undefined;
  }
}

async function create(client: Client, cronJob: CronJob, job: Job, events: EventRecorder): Promise<void> {
  try {
    await client.resource(JOBS).create(job);
    events.record(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata?.name}`);
  } catch (error) {
    if (isAlreadyExists(error)) return;
    events.record(
      cronJob,
      'Warning',
      'FailedCreate',
      `Error creating job: ${error instanceof Error ? error.message : String(error)}`,
    );
    throw error;
  }
}

async function remove(client: Client, cronJob: CronJob, job: Job, events: EventRecorder): Promise<void> {
  const { namespace, name = '', uid, deletionTimestamp } = job.metadata ?? {};
  if (deletionTimestamp !== undefined) return;
  try {
    const options = { propagationPolicy: 'Background', preconditions: { uid } } as const;
    await client.resource(JOBS).delete({ namespace, name }, options);
    events.record(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** A Job that only got another resourceVersion is no news. */
async function writeStatus(client: Client, cronJob: CronJob, status: CronJobStatus): Promise<void> {
  const comparable = ({ active = [], ...rest }: CronJobStatus) => ({
    ...rest,
    active: active.map(({ uid }: ObjectReference) => uid),
  });
  if (deepEqual(comparable(status), comparable(cronJob.status ?? {}))) return;
  await client.resource(CRON_JOBS).update({ ...cronJob, status }, { subresource: 'status' });
}
