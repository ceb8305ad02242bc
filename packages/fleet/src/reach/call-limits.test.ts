import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import { CallLimits } from './call-limits.ts';

const full = (says: RegExp) => (error: unknown) => {
  assert.ok(isStatusError(error, 'TooManyRequests'), String(error));
  assert.equal(error.retryAfterSeconds, 1);
  assert.match(error.message, says);
  return true;
};

test('limits: one user fills no cluster, and all users together no tunnel', () => {
  const limits = new CallLimits({ perCaller: 2, perCluster: 3 });
  const [first] = [limits.enter('a', 'ann'), limits.enter('a', 'ann')];
  assert.throws(() => limits.enter('a', 'ann'), full(/"ann" has 2 calls to cluster "a" under way/));
  limits.enter('b', 'ann');
  limits.enter('a', 'bob');
  assert.throws(() => limits.enter('a', 'carl'), full(/3 calls to cluster "a" are under way/));
  first();
  first();
  limits.enter('a', 'carl');
  assert.throws(() => limits.enter('a', 'dora'), full(/3 calls/));
});

test('limits: who has left is forgotten', () => {
  const limits = new CallLimits({ perCaller: 1, perCluster: 1 });
  for (let i = 0; i < 3; i += 1) limits.enter('a', 'ann')();
});
