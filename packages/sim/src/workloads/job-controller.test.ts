import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isConditionTrue, type Job, JOBS, type JobSpec, type Pod, PODS } from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

const ref = { namespace: 'default', name: 'sum' };

const job = (spec: Partial<JobSpec> = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: ref,
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'sum', image: 'sum:1' }] } }, ...spec },
});

/** A member whose kubelets say nothing: the test ends the pods. */
const quietMember = (): Promise<TestMember> => TestMember.start({ podStartMs: 3_600_000 });

const is =
  (type: string) =>
  (each: Job): boolean =>
    isConditionTrue(each.status?.conditions, type);
const isOpen = ({ status, metadata }: Pod): boolean => status?.phase === 'Pending' && !metadata?.deletionTimestamp;

async function end(
  member: TestMember,
  pods: readonly Pod[],
  phase: 'Succeeded' | 'Failed',
  exitCode = 0,
): Promise<void> {
  const finishedAt = new Date().toISOString();
  const state = { terminated: { exitCode, finishedAt } };
  const container = { name: 'sum', image: 'sum:1', imageID: '', ready: false, restartCount: 0, state };
  await Promise.all(pods.map((pod) => member.report(pod, { phase, containerStatuses: [container] })));
}

describe('a Job', () => {
  test('runs as many pods as it wants at a time, and is complete when all have succeeded', async () => {
    await using member = await quietMember();
    await member.client.resource(JOBS).create(job({ completions: 3, parallelism: 2 }));
    const first = await member.until(PODS, (pods) => pods.length === 2);
    await end(member, first, 'Succeeded');
    const all = await member.until(PODS, (pods) => pods.length === 3);
    await end(member, all.filter(isOpen), 'Succeeded');
    const { status } = await member.one(JOBS, ref, is('Complete'));
    assert.equal(status?.succeeded, 3);
    assert.deepEqual([status?.active, status?.ready, status?.terminating], [undefined, 0, 0]);
    assert.ok(status?.completionTime);
    assert.deepEqual(
      status?.conditions?.map(({ type, reason }) => [type, reason]),
      [
        ['SuccessCriteriaMet', 'CompletionsReached'],
        ['Complete', 'CompletionsReached'],
      ],
    );
    const left = await member.until(PODS, (pods) => pods.every(({ metadata }) => !metadata?.finalizers?.length));
    assert.equal(left.length, 3);
  });

  test('gives each pod of an Indexed one its index, and remembers which are done', async () => {
    await using member = await quietMember();
    await member.client.resource(JOBS).create(job({ completions: 3, parallelism: 3, completionMode: 'Indexed' }));
    const pods = await member.until(PODS, (all) => all.length === 3);
    const index = 'batch.kubernetes.io/job-completion-index';
    assert.deepEqual(
      pods.map(({ metadata, spec }) => [metadata?.annotations?.[index], metadata?.labels?.[index], spec?.hostname]),
      ['0', '1', '2'].map((each) => [each, each, `sum-${each}`]),
    );
    assert.equal(pods[0]?.spec?.containers[0]?.env?.[0]?.name, 'JOB_COMPLETION_INDEX');
    await end(member, [pods[0]!, pods[2]!], 'Succeeded');
    await member.one(JOBS, ref, ({ status }) => status?.completedIndexes === '0,2' && status.succeeded === 2);
    await end(member, [pods[1]!], 'Succeeded');
    const { status } = await member.one(JOBS, ref, is('Complete'));
    assert.deepEqual([status?.completedIndexes, status?.succeeded], ['0-2', 3]);
  });

  test('fails beyond its backoff limit, by its policy, and at its deadline', async () => {
    await using member = await quietMember();
    const jobs = member.client.resource(JOBS);
    await jobs.create(job({ backoffLimit: 0, parallelism: 2, completions: 2 }));
    const [one] = await member.until(PODS, (pods) => pods.length === 2);
    await end(member, [one!], 'Failed', 1);
    const failed = await member.one(JOBS, ref, is('Failed'));
    assert.deepEqual(
      failed.status?.conditions?.map(({ type, reason }) => [type, reason]),
      [
        ['FailureTarget', 'BackoffLimitExceeded'],
        ['Failed', 'BackoffLimitExceeded'],
      ],
    );
    await jobs.delete(ref, { propagationPolicy: 'Background' });
    await member.until(PODS, (pods) => pods.length === 0);

    const rules = [{ action: 'FailJob' as const, onExitCodes: { operator: 'In' as const, values: [42] } }];
    await jobs.create(job({ podFailurePolicy: { rules } }));
    const pods = await member.until(PODS, (all) => all.length === 1);
    await end(member, pods, 'Failed', 42);
    const byPolicy = await member.one(JOBS, ref, is('Failed'));
    const said = byPolicy.status?.conditions?.find(({ type }) => type === 'Failed');
    assert.equal(said?.reason, 'PodFailurePolicy');
    assert.match(
      said?.message ?? '',
      /^Container sum for pod default\/sum-\w+ failed with exit code 42 matching FailJob rule at index 0$/,
    );

    await jobs.create({
      ...job({ activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 1 }),
      metadata: { ...ref, name: 'late' },
    });
    const late = await member.one(JOBS, { ...ref, name: 'late' }, is('Failed'));
    assert.equal(late.status?.conditions?.[0]?.reason, 'DeadlineExceeded');
    await member.until(JOBS, (all) => all.every(({ metadata }) => metadata?.name !== 'late'));
  });

  test('has no pods while it is suspended', async () => {
    await using member = await quietMember();
    const jobs = member.client.resource(JOBS);
    await jobs.create(job());
    await member.until(PODS, (pods) => pods.length === 1);
    await jobs.patch(ref, { type: 'merge', body: { spec: { suspend: true } } });
    await member.until(PODS, (pods) => pods.length === 0);
    const { status } = await member.one(JOBS, ref, is('Suspended'));
    assert.deepEqual([status?.startTime, status?.failed], [undefined, undefined]);
    await jobs.patch(ref, { type: 'merge', body: { spec: { suspend: false } } });
    await end(member, await member.until(PODS, (pods) => pods.length === 1), 'Succeeded');
    const done = await member.one(JOBS, ref, is('Complete'));
    assert.equal(done.status?.conditions?.find(({ type }) => type === 'Suspended')?.status, 'False');
  });
});
