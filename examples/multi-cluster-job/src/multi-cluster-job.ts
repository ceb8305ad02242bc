import { isConditionTrue, type Job, JOBS } from '@asterism/machinery';
import {
  createApply,
  createController,
  type Manager,
  OwnedObjects,
  type ReconcileContext,
  type Request,
  throwFailure,
  withFinalizer,
} from '@asterism/runtime';
import { type Test, TESTS } from './test-kind.ts';

const apply = createApply({ fieldManager: 'multi-cluster-job' });

/**
 * Every Test of the main cluster is one Job in each cluster, the main one included. The Test is finished when one of them is; the
 * Jobs go with it. `domain` marks what belongs to this operator and no other.
 */
export function addMultiClusterJob(manager: Manager, domain: string): void {
  const keep = { fields: ['status.conditions'] };
  const jobs = new OwnedObjects({ manager, domain, owner: TESTS, owned: JOBS, keep });

  async function reconcile(test: Test, request: Request, context: ReconcileContext): Promise<void> {
    const made = jobs.of(test);
    const isDone = made.some(({ object }) => isConditionTrue(object.status?.conditions, 'Complete'));
    const phase = isDone || test.status?.phase === 'finished' ? 'finished' : 'running';
    if (test.status?.phase !== phase) {
      const metadata = { namespace: request.namespace, name: request.name };
      await apply.status(context.cluster.client, TESTS, { metadata, status: { phase } }, context);
    }
    const has = new Set(made.map(({ cluster }) => cluster));
    const job = jobs.mark(jobOf(test), test);
    const outcomes = await jobs.inEach(request, context, async ({ name, client }, signal) => {
      if (!has.has(name)) await client.resource(JOBS).create(job, { signal });
    });
    throwFailure(outcomes);
  }

  const controller = createController({
    name: 'multi-cluster-job',
    concurrency: 8,
    reconcile: withFinalizer({
      type: TESTS,
      finalizer: 'job.lailin.xyz/jobs',
      reconcile,
      cleanup: (test, _, context) => jobs.deleteAll(test, context),
      absent: (request, context) => jobs.collectGarbage(request, context),
    }),
  });
  manager.add(controller.for(TESTS).source(jobs.subscribe));
}

function jobOf({ metadata, spec }: Test): Job {
  const containers = [{ name: 'test', image: spec?.image ?? 'busybox' }];
  return {
    metadata: { namespace: metadata?.namespace, name: metadata?.name },
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
}
