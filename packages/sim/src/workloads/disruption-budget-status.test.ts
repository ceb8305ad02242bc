import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetSpec } from '@asterism/machinery';
import { disruptionBudgetStatus } from './disruption-budget-status.ts';

const NOW = Date.UTC(2030, 0, 1);

const pod = (name: string, ready = true): Pod => ({
  metadata: { name },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

const budget = (spec: PodDisruptionBudgetSpec, disruptedPods?: Record<string, string>): PodDisruptionBudget => ({
  metadata: { name: 'web', generation: 2 },
  spec,
  ...(disruptedPods ? { status: { disruptedPods } } : {}),
});

const pods = [pod('a'), pod('b'), pod('c'), pod('d', false)];

const ROWS: [name: string, budget: PodDisruptionBudget, scale: number, allowed: number, desired: number][] = [
  ['a number that stays', budget({ minAvailable: 2 }), 4, 1, 2],
  ['a share that stays, rounded up', budget({ minAvailable: '30%' }), 4, 1, 2],
  ['a number that may go', budget({ maxUnavailable: 1 }), 4, 0, 3],
  ['a share that may go, rounded up', budget({ maxUnavailable: '30%' }), 4, 1, 2],
  ['of what is wanted, not of what is there', budget({ maxUnavailable: 1 }), 6, 0, 5],
  ['all may go', budget({ maxUnavailable: '100%' }), 4, 3, 0],
  ['one that was let go a moment ago', budget({ minAvailable: 2 }, { a: '2029-12-31T23:59:00Z' }), 4, 0, 2],
  ['one that was let go long ago and stands', budget({ minAvailable: 2 }, { a: '2029-12-31T23:00:00Z' }), 4, 1, 2],
];

describe('what a budget lets go', () => {
  for (const [name, each, scale, allowed, desired] of ROWS) {
    test(name, () => {
      const status = disruptionBudgetStatus(each, pods, () => scale, NOW);
      assert.deepEqual([status.disruptionsAllowed, status.desiredHealthy], [allowed, desired]);
      assert.equal(status.observedGeneration, 2);
      const [condition] = status.conditions ?? [];
      assert.equal(condition?.reason, allowed > 0 ? 'SufficientPods' : 'InsufficientPods');
    });
  }

  test('nothing where nobody can say how many there should be', () => {
    const each = budget({ maxUnavailable: 1 });
    const status = disruptionBudgetStatus(each, pods, () => ({ failure: 'found no controller ref' }), NOW);
    assert.equal(status.disruptionsAllowed, 0);
    assert.deepEqual(
      status.conditions?.map(({ reason, message }) => [reason, message]),
      [['SyncFailed', 'found no controller ref']],
    );
  });
});
