import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CronJob, CronJobSpec, Job } from '@asterism/machinery';
import { planCronJob } from './cron-job-plan.ts';

const at = (time: string): number => Date.parse(`2030-01-01T${time}Z`);

const cronJob = (spec: Partial<CronJobSpec> = {}, lastScheduleTime?: string): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'sweep', namespace: 'default', uid: 'u-1', creationTimestamp: '2030-01-01T00:00:30Z' },
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: { spec: { template: { spec: { containers: [] } } } },
    ...spec,
  },
  ...(lastScheduleTime ? { status: { lastScheduleTime: `2030-01-01T${lastScheduleTime}Z` } } : {}),
});

const job = (name: string, end?: 'Complete' | 'Failed'): Job => ({
  metadata: { name, uid: name },
  spec: { template: {} },
  status: end ? { startTime: `2030-01-01T00:0${name.at(-1)}:00Z`, conditions: [{ type: end, status: 'True' }] } : {},
});

const minute = (time: string): string => `sweep-${at(time) / 60_000}`;

describe('the Job of a CronJob', () => {
  const rows: [
    name: string,
    cronJob: CronJob,
    now: string,
    jobs: Job[],
    created: string | undefined,
    removed?: string[],
  ][] = [
    ['is not made before its time', cronJob(), '00:04:59', [], undefined],
    ['is made when its time has come', cronJob(), '00:05:00', [], minute('00:05:00')],
    ['is the newest of those that were missed', cronJob({}, '00:05:00'), '03:17:00', [], minute('03:15:00')],
    ['is not made again', cronJob({}, '00:05:00'), '00:09:00', [], undefined],
    ['is not made by one that is suspended', cronJob({ suspend: true }), '00:05:00', [], undefined],
    ['is not made later than the deadline', cronJob({ startingDeadlineSeconds: 60 }), '00:07:00', [], undefined],
    ['is made before the deadline', cronJob({ startingDeadlineSeconds: 60 }), '00:05:30', [], minute('00:05:00')],
    ['runs beside another', cronJob(), '00:05:00', [job('a')], minute('00:05:00')],
    ['waits where two are forbidden', cronJob({ concurrencyPolicy: 'Forbid' }), '00:05:00', [job('a')], undefined],
    [
      'is made where the other is over',
      cronJob({ concurrencyPolicy: 'Forbid' }),
      '00:05:00',
      [job('a1', 'Complete')],
      minute('00:05:00'),
    ],
    ['replaces another', cronJob({ concurrencyPolicy: 'Replace' }), '00:05:00', [job('a')], minute('00:05:00'), ['a']],
    [
      'stays for a while',
      cronJob({ suspend: true }),
      '00:05:00',
      [1, 2, 3, 4].map((n) => job(`ok-${n}`, 'Complete')).concat([1, 2].map((n) => job(`no-${n}`, 'Failed'))),
      undefined,
      ['ok-1', 'no-1'],
    ],
  ];
  for (const [name, each, now, jobs, created, removed = []] of rows) {
    test(name, () => {
      const plan = planCronJob(each, jobs, at(now));
      assert.equal(plan.create?.metadata?.name, created);
      assert.deepEqual(
        plan.remove.map(({ metadata }) => metadata?.name),
        removed,
      );
    });
  }

  test('a CronJob looks again when its next time comes, and names those that run', () => {
    const plan = planCronJob(cronJob({}, '00:05:00'), [job('a')], at('00:06:00'));
    assert.equal(plan.againAfter, 240_000);
    assert.deepEqual(
      plan.status.active?.map(({ name }) => name),
      ['a'],
    );
  });
});
