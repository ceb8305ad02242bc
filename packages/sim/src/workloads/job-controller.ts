import type { Client, Clock } from '@asterism/client';
import { deepEqual, isConflict, isNotFound, type Job, JOBS, type JobStatus, type Pod, PODS } from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';
import { isTracked, jobPod, TRACKING_FINALIZER } from './job-pods.ts';
import { planJob } from './job-plan.ts';
import { BY_CONTROLLER, controllerOf, indexByController } from './owned.ts';
import { createPodWriter } from './pod-writer.ts';

const BY_JOB = 'job';

/** Runs pods to their end, and counts them: see `planJob` and `tallyJob` for the rules. */
export function addJobController(manager: Manager, clock: Clock): void {
  const pods = manager.local.cache.informer(PODS);
  pods.addIndex(BY_CONTROLLER, indexByController);
  pods.addIndex(BY_JOB, indexByJob);
  const events = createEventRecorder(manager.local.client, 'job-controller', clock);
  const writer = createPodWriter(events);
  manager.add(
    createController({
      name: 'job',
      concurrency: 4,
      async reconcile({ namespace, name }, { cluster }) {
        const { client } = cluster;
        const job = cluster.cache.get(JOBS, { namespace, name });
        const uid = job?.metadata?.uid;
        const foreign = pods.store
          .byIndex(BY_JOB, `${namespace}/${name}`)
          .filter((pod) => controllerOf(pod)?.uid !== uid || job?.metadata?.deletionTimestamp !== undefined);
        await Promise.all(foreign.filter(isTracked).map((pod) => release(client, pod)));
        if (job === undefined || job.metadata?.deletionTimestamp || isManagedElsewhere(job)) return;
        const owned = pods.store.byIndex(BY_CONTROLLER, uid ?? '');
        const plan = planJob(job, owned, clock.wall().getTime());
        if (plan.expired) {
          await expire(client, job);
          return;
        }
        await Promise.all(plan.remove.map((pod) => writer.remove(client, job, pod)));
        const made = plan.create.map((each) => jobPod(job, each));
        await writer.createAll(client, job, made);
        await writeStatus(client, job, plan.status, events);
        await Promise.all(plan.release.map((pod) => release(client, pod)));
        return { requeueAfter: plan.againAfter };
      },
    })
      .for(JOBS)
      .owns(PODS),
  );
}

function indexByJob(pod: Pod): string[] {
  const owner = controllerOf(pod);
  return owner?.kind === 'Job' ? [`${pod.metadata?.namespace}/${owner.name}`] : [];
}

const isManagedElsewhere = ({ spec }: Job): boolean =>
  spec?.managedBy !== undefined && spec.managedBy !== 'kubernetes.io/job-controller';

/** Takes the finalizer off: the pod may go. */
async function release(client: Client, pod: Pod): Promise<void> {
  const { namespace, name = '', uid, resourceVersion, finalizers = [] } = pod.metadata ?? {};
  const kept = finalizers.filter((finalizer) => finalizer !== TRACKING_FINALIZER);
  const body = { metadata: { uid, resourceVersion, finalizers: kept } };
  try {
    await client.resource(PODS).patch({ namespace, name }, { type: 'merge', body });
  } catch (error) {
    // Gone, or another of the same name.
    if (!isNotFound(error)) throw error;
  }
}

async function expire(client: Client, { metadata }: Job): Promise<void> {
  const { namespace, name = '', uid } = metadata ?? {};
  try {
    const options = { propagationPolicy: 'Background', preconditions: { uid } } as const;
    await client.resource(JOBS).delete({ namespace, name }, options);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function writeStatus(client: Client, job: Job, status: JobStatus, events: EventRecorder): Promise<void> {
  if (deepEqual(status, job.status ?? {})) return;
  await client.resource(JOBS).update({ ...job, status }, { subresource: 'status' });
  const before = new Set((job.status?.conditions ?? []).map(said));
  for (const condition of status.conditions ?? []) {
    if (before.has(said(condition))) continue;
    const { reason = '', message = '' } = condition;
    if (condition.type === 'Complete') events.record(job, 'Normal', 'Completed', 'Job completed');
    if (condition.type === 'Failed') events.record(job, 'Warning', reason, message);
    if (condition.type === 'Suspended') {
      const isSuspended = condition.status === 'True';
      events.record(job, 'Normal', isSuspended ? 'Suspended' : 'Resumed', message);
    }
  }
}

const said = ({ type, status }: { type: string; status: string }): string => `${type}=${status}`;
