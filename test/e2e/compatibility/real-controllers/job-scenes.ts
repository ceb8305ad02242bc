import assert from 'node:assert/strict';
import { CRON_JOBS, formatTime, isConditionTrue, type Job, JOBS, PODS } from '@asterism/machinery';
import { untilExists } from '../../../cluster/until-exists.ts';
import { untilAll } from '../../../cluster/until-all.ts';
import { type Scene, template } from './scene.ts';

export const JOB_SCENES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  Jobs: jobs,
  CronJobs: cronJobs,
};

async function jobs({ client, namespace, kubectls }: Scene): Promise<void> {
  const ref = { namespace, name: 'once' };
  const spec = { completions: 2, parallelism: 2, template: template('once', 'registry.example/once:1', 'Never') };
  await client.resource(JOBS).create({ metadata: ref, spec });
  await untilAll(
    client,
    PODS,
    { namespace, labelSelector: 'job-name=once' },
    (pods) => pods.length === 2 && pods.every(({ status }) => status?.phase === 'Succeeded'),
  );
  // What the controller of today says before, and that of 1.20 cannot; it may write over it what it had read before.
  const met = { type: 'SuccessCriteriaMet', status: 'True', reason: 'CompletionsReached' };
  const body = { status: { conditions: [met] } };
  const holds = ({ status }: Job, type: string): boolean => isConditionTrue(status?.conditions, type);
  for (let isComplete = false; !isComplete; ) {
    await client.resource(JOBS).patch(ref, { type: 'strategic', body }, { subresource: 'status' });
    const now = await untilExists(
      client,
      JOBS,
      ref,
      (job) => holds(job, 'Complete') || !holds(job, 'SuccessCriteriaMet'),
    );
    isComplete = holds(now, 'Complete');
  }
  await kubectls[1]!.run(['-n', namespace, 'wait', '--for=condition=complete', 'job/once', '--timeout=30s']);
  assert.equal((await client.resource(JOBS).get(ref)).status?.succeeded, 2);
}

async function cronJobs({ client, namespace }: Scene): Promise<void> {
  const ref = { namespace, name: 'often' };
  const jobTemplate = { spec: { template: template('often', 'registry.example/once:1', 'Never') } };
  await client.resource(CRON_JOBS).create({ metadata: ref, spec: { schedule: '* * * * *', jobTemplate } });
  // It has missed a minute, so that nobody need wait for the next.
  const lastScheduleTime = formatTime(Date.now() - 90_000);
  await client
    .resource(CRON_JOBS)
    .patch(ref, { type: 'merge', body: { status: { lastScheduleTime } } }, { subresource: 'status' });
  const [job] = await untilAll(client, JOBS, { namespace }, ({ length }) => length > 0);
  assert.equal(job?.metadata?.ownerReferences?.[0]?.kind, 'CronJob');
  await untilExists(client, CRON_JOBS, ref, ({ status }) => status?.lastScheduleTime !== lastScheduleTime);
}
