import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextSizes, podsOf, rollingLimits, type RolloutStrategy } from './rollout.ts';

test('percentages round up for surge and down for unavailable', () => {
  assert.equal(podsOf('25%', 9, 'up'), 3);
  assert.equal(podsOf('25%', 9, 'down'), 2);
  assert.equal(podsOf(undefined, 4, 'up'), 1);
  assert.equal(podsOf(5, 9, 'up'), 5);
  assert.deepEqual(rollingLimits(3, { maxSurge: 0, maxUnavailable: 0 }), { maxSurge: 0, maxUnavailable: 1 });
});

test('a rolling update keeps to its limits at every step and ends', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 0, max: 20 }),
    fc.integer({ min: 0, max: 20 }),
    (desired, surge, unavailable) => {
      const limits = rollingLimits(desired, { maxSurge: surge, maxUnavailable: unavailable });
      const strategy: RolloutStrategy = { type: 'RollingUpdate', ...limits };
      let current = { name: 'new', replicas: 0, available: 0 };
      let old = { name: 'old', replicas: desired, available: desired };
      let steps = 0;
      while (current.replicas !== desired || old.replicas !== 0) {
        const sizes = nextSizes(desired, current, [old], strategy, true);
        const next = { current: sizes.get('new') ?? 0, old: sizes.get('old') ?? 0 };
        assert.ok(next.current + next.old <= desired + limits.maxSurge, 'too many');
        assert.ok(next.old + Math.min(current.available, next.current) >= desired - limits.maxUnavailable, 'too few');
        // What was asked for comes up, and goes down, before the next step.
        current = { name: 'new', replicas: next.current, available: next.current };
        old = { name: 'old', replicas: next.old, available: next.old };
        steps += 1;
        assert.ok(steps <= 4 * desired + 4, 'does not end');
      }
    },
  );
  fc.assert(property);
});

test('pods of the old template that serve nobody go first', () => {
  const sizes = nextSizes(
    4,
    { name: 'new', replicas: 1, available: 0 },
    [{ name: 'old', replicas: 4, available: 3 }],
    { type: 'RollingUpdate', maxSurge: 1, maxUnavailable: 1 },
    true,
  );
  assert.deepEqual(
    [...sizes],
    [
      ['new', 1],
      ['old', 3],
    ],
  );
});

test('recreate: the new one waits until the last old pod is gone', () => {
  const strategy: RolloutStrategy = { type: 'Recreate', maxSurge: 0, maxUnavailable: 0 };
  const current = { name: 'new', replicas: 0, available: 0 };
  const old = [{ name: 'old', replicas: 3, available: 3 }];
  assert.deepEqual(
    [...nextSizes(3, current, old, strategy, true)],
    [
      ['new', 0],
      ['old', 0],
    ],
  );
  assert.deepEqual(
    [...nextSizes(3, current, old, strategy, false)],
    [
      ['new', 3],
      ['old', 0],
    ],
  );
});
