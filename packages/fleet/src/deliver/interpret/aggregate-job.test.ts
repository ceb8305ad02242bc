import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aggregate, BEFORE, listOf, NOW, report, template } from './testing/reports.ts';

describe('Job', () => {
  const job = template('batch/v1', 'Job');
  const done = (completionTime: string) => ({
    succeeded: 2,
    startTime: BEFORE,
    completionTime,
    conditions: [{ type: 'Complete', status: 'True' }],
  });

  test('complete only when all are; earliest start, latest end', () => {
    const half = aggregate(
      job,
      report('ant', done('2026-01-01T01:00:00Z')),
      report('bee', { active: 1, startTime: NOW }),
    );
    assert.deepEqual(half, { active: 1, succeeded: 2, startTime: BEFORE });
    const all = aggregate(
      job,
      report('ant', done('2026-01-01T01:00:00Z')),
      report('bee', done('2026-01-01T02:00:00Z')),
    );
    assert.equal(all?.['completionTime'], '2026-01-01T02:00:00Z');
    const types = listOf(all).map(({ type }) => type);
    assert.deepEqual(types, ['SuccessCriteriaMet', 'Complete']);
  });

  test('failed when one is, and it is named; then it has a start and nothing that runs', () => {
    const failed = { failed: 1, conditions: [{ type: 'Failed', status: 'True' }] };
    const status = aggregate(job, report('ant', { active: 2, ready: 1, startTime: BEFORE }), report('bee', failed));
    const [target, condition] = listOf(status);
    assert.deepEqual(
      [target?.type, condition?.type, condition?.message],
      ['FailureTarget', 'Failed', 'Job failed in bee.'],
    );
    assert.deepEqual(
      [status?.['active'], status?.['ready'], status?.['failed'], status?.['startTime']],
      [undefined, undefined, 1, BEFORE],
    );
  });

  test('a start stays, and what succeeded is not less when its cluster is left', () => {
    const started = { ...job, status: { startTime: BEFORE, succeeded: 3, failed: 1 } };
    const status = aggregate(started, report('ant', { active: 1, succeeded: 1 }));
    assert.deepEqual(status, { active: 1, succeeded: 3, failed: 1, startTime: BEFORE });
  });

  test('a start is known when every cluster has one', () => {
    assert.deepEqual(aggregate(job, report('ant', { startTime: BEFORE }), report('bee', { active: 1 })), { active: 1 });
  });

  test('of one that no cluster has any more nothing is active, and it is not complete', () => {
    const begun = { ...job, status: { active: 2, ready: 2, succeeded: 3, startTime: BEFORE } };
    assert.deepEqual(aggregate(begun), { succeeded: 3, startTime: BEFORE });
  });

  test('once finished it is never changed', () => {
    const finished = { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } };
    assert.equal(aggregate(finished, report('ant', { active: 1 })), undefined);
    assert.equal(aggregate(finished), undefined);
  });
});
