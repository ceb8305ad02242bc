import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Job, JobSpec, JobStatus, Pod } from '@asterism/machinery';
import { formatIndexes, parseIndexes } from './completion-indexes.ts';
import { TRACKING_FINALIZER } from './job-pods.ts';
import { planJob } from './job-plan.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString().replace('.000', '');

const job = (spec: Partial<JobSpec> = {}, status: JobStatus = {}): Job => ({
  metadata: { name: 'sum', uid: 'u-1' },
  spec: { template: { spec: { containers: [] } }, parallelism: 1, completions: 1, backoffLimit: 6, ...spec },
  status: { startTime: ago(60), ...status },
});

interface Ending {
  index?: number;
  tracked?: boolean;
  secondsAgo?: number;
  leaving?: boolean;
}

const pod = (name: string, phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed', ending: Ending = {}): Pod => {
  const { index, tracked = true, secondsAgo = 1000, leaving = false } = ending;
  const end = phase === 'Succeeded' || phase === 'Failed';
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: ago(2000),
      finalizers: tracked ? [TRACKING_FINALIZER] : [],
      ...(leaving ? { deletionTimestamp: ago(1) } : {}),
      ...(index === undefined ? {} : { annotations: { 'batch.kubernetes.io/job-completion-index': String(index) } }),
    },
    spec: { nodeName: 'n', containers: [] },
    status: {
      phase,
      ...(end
        ? {
            containerStatuses: [
              {
                name: 'c',
                image: '',
                imageID: '',
                ready: false,
                restartCount: 0,
                state: { terminated: { exitCode: 0, finishedAt: ago(secondsAgo) } },
              },
            ],
          }
        : {}),
    },
  };
};

const reasons = (plan: { status: JobStatus }) => plan.status.conditions?.map(({ type, reason }) => `${type} ${reason}`);

describe('the next step of a Job', () => {
  test('an end is written down, then let go, then counted, once', () => {
    const spec = { completions: 2 };
    const ended = pod('a', 'Succeeded');
    const first = planJob(job(spec), [ended], NOW);
    assert.deepEqual(first.status.uncountedTerminatedPods, { succeeded: ['a'] });
    assert.deepEqual([first.status.succeeded, first.release, first.create.length], [undefined, [ended], 1]);
    // Interrupted before the pod was let go: it is let go, and not counted yet.
    const second = planJob(job(spec, first.status), [ended], NOW);
    assert.deepEqual(second.status.uncountedTerminatedPods, first.status.uncountedTerminatedPods);
    const third = planJob(job(spec, first.status), [pod('a', 'Succeeded', { tracked: false })], NOW);
    assert.deepEqual([third.status.succeeded, third.status.uncountedTerminatedPods], [1, {}]);
    const gone = planJob(job(spec, first.status), [], NOW);
    assert.equal(gone.status.succeeded, 1);
    const after = planJob(job(spec, third.status), [pod('a', 'Succeeded', { tracked: false })], NOW);
    assert.equal(after.status.succeeded, 1);
  });

  test('it is over when nothing runs and all is counted', () => {
    const plan = planJob(job({}, { uncountedTerminatedPods: { succeeded: ['a'] } }), [pod('a', 'Succeeded')], NOW);
    assert.deepEqual(reasons(plan), ['SuccessCriteriaMet CompletionsReached']);
    const over = planJob(job({}, plan.status), [], NOW);
    assert.deepEqual(reasons(over), ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
    assert.deepEqual(planJob(job({}, over.status), [], NOW + 5000).status, over.status);
  });

  test('more pods are given up when fewer are wanted', () => {
    const pods = ['a', 'b', 'c'].map((name) => pod(name, 'Running'));
    const plan = planJob(job({ completions: 5, parallelism: 1 }), pods, NOW);
    assert.equal(plan.remove.length, 2);
    assert.equal(plan.status.active, 1);
  });

  test('after failures it waits, twice as long for each', () => {
    const [one, two] = [pod('a', 'Failed', { secondsAgo: 4 }), pod('b', 'Failed', { secondsAgo: 2 })];
    const plan = planJob(job(), [one, two], NOW);
    assert.deepEqual([plan.create, plan.againAfter], [[], 18_000]);
    assert.equal(planJob(job(), [one, two], NOW + 18_000).create.length, 1);
  });

  test('one that is deleted has failed; where the Job waits for its end, it is waited for', () => {
    const leaving = pod('a', 'Running', { leaving: true });
    const plan = planJob(job(), [leaving], NOW);
    assert.deepEqual([plan.status.uncountedTerminatedPods, plan.create.length], [{ failed: ['a'] }, 1]);
    const patient = planJob(job({ podReplacementPolicy: 'Failed' }), [leaving], NOW);
    assert.deepEqual([patient.status.uncountedTerminatedPods, patient.create.length], [{}, 0]);
  });

  test('an index that fails too often is given up, and the others go on', () => {
    const spec: Partial<JobSpec> = {
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      backoffLimit: 100,
      backoffLimitPerIndex: 0,
    };
    const pods = [pod('a', 'Failed', { index: 0 }), pod('b', 'Running', { index: 1 })];
    const plan = planJob(job(spec), pods, NOW);
    assert.deepEqual([plan.status.failedIndexes, plan.create, reasons(plan)], ['0', [], undefined]);
    const end = planJob(job(spec, plan.status), [pod('b', 'Succeeded', { index: 1 })], NOW);
    assert.deepEqual(reasons(end), ['FailureTarget FailedIndexes']);
    assert.equal(end.status.completedIndexes, '1');
  });

  test('a success policy ends it early', () => {
    const spec: Partial<JobSpec> = {
      completionMode: 'Indexed',
      completions: 3,
      parallelism: 3,
      successPolicy: { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] },
    };
    const pods = [pod('a', 'Succeeded', { index: 2 }), pod('b', 'Running', { index: 1 })];
    const plan = planJob(job(spec), pods, NOW);
    assert.deepEqual(reasons(plan), ['SuccessCriteriaMet SuccessPolicy']);
    assert.deepEqual(plan.remove, [pods[1]]);
  });

  test('restarts in place are failures', () => {
    const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } };
    const restarted = (restartCount: number): Pod => {
      const container = { name: 'c', image: '', imageID: '', ready: true, restartCount };
      return { ...pod('a', 'Running'), status: { phase: 'Running', containerStatuses: [container] } };
    };
    const after = (count: number) => planJob(job({ template, backoffLimit: 2 }), [restarted(count)], NOW);
    assert.equal(reasons(after(1)), undefined);
    assert.deepEqual(reasons(after(2)), ['FailureTarget BackoffLimitExceeded']);
  });

  test('it expires', () => {
    const ended = ago(10);
    const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: ended }];
    const at = (ttlSecondsAfterFinished: number) => planJob(job({ ttlSecondsAfterFinished }, { conditions }), [], NOW);
    assert.equal(at(10).expired, true);
    assert.deepEqual([at(15).expired, at(15).againAfter], [false, 5000]);
  });
});

test('indexes are written as ranges', () => {
  for (const text of ['', '0', '0,1', '0-2', '1,3-5,7,8,10']) assert.equal(formatIndexes(parseIndexes(text)), text);
});
