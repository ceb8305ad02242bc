import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, isConditionTrue, setCondition } from './conditions.ts';
import type { Condition } from './object.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-01-02T00:00:00Z';

const ready: Condition = {
  type: 'Ready',
  status: 'False',
  reason: 'Starting',
  message: '',
  lastTransitionTime: BEFORE,
};
const joined: Condition = { type: 'Joined', status: 'True', reason: 'Ok', message: '', lastTransitionTime: BEFORE };

test('a new condition goes to the end and changes now', () => {
  const { lastTransitionTime: _, ...wanted } = ready;
  assert.deepEqual(setCondition(undefined, wanted, NOW), [{ ...ready, lastTransitionTime: NOW }]);
  assert.deepEqual(setCondition([joined], wanted, NOW), [joined, { ...ready, lastTransitionTime: NOW }]);
});

test('another status is a transition, another reason is none', () => {
  const conditions = [ready, joined];
  const told = { type: 'Ready', status: 'False', reason: 'Pulling', message: 'image', observedGeneration: 2 } as const;
  assert.deepEqual(setCondition(conditions, told, NOW), [{ ...told, lastTransitionTime: BEFORE }, joined]);
  const changed = { ...told, status: 'True' } as const;
  assert.deepEqual(setCondition(conditions, changed, NOW), [{ ...changed, lastTransitionTime: NOW }, joined]);
  assert.deepEqual(conditions, [ready, joined]);
});

test('the same again is equal to what was', () => {
  const { lastTransitionTime: _, ...same } = ready;
  assert.deepEqual(setCondition([ready, joined], same, NOW), [ready, joined]);
});

test('finding and asking', () => {
  assert.equal(findCondition([ready, joined], 'Joined'), joined);
  assert.equal(findCondition(undefined, 'Joined'), undefined);
  assert.equal(isConditionTrue([ready, joined], 'Joined'), true);
  assert.equal(isConditionTrue([ready, joined], 'Ready'), false);
  assert.equal(isConditionTrue([ready, joined], 'Other'), false);
  assert.equal(isConditionTrue(undefined, 'Ready'), false);
});
