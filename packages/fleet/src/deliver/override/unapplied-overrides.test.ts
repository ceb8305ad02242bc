import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRule, overrideFaults, type UnappliedHere } from './unapplied-overrides.ts';

const idle = (rule: number): UnappliedHere => ({
  kind: 'ClusterOverridePolicy',
  name: 'c',
  rule,
  overrider: 'argsOverrider[0]',
  reason: 'NoEffect',
  message: 'there is no container db',
});
const fault: UnappliedHere = {
  kind: 'OverridePolicy',
  namespace: 'demo',
  name: 'o',
  reason: 'Failed',
  message: 'resourceSelectors[0].labelSelector: no',
};

test('only what failed keeps an object from a cluster', () => {
  assert.deepEqual(overrideFaults([idle(0), fault]), ['OverridePolicy demo/o: resourceSelectors[0].labelSelector: no']);
});

test('what failed is told before all that did nothing, and no status grows without bounds', () => {
  const many = Array.from({ length: 150 }, (_, rule) => idle(rule));
  const told = byRule([
    { cluster: 'ant', unapplied: many },
    { cluster: 'bee', unapplied: [...many, fault, fault] },
  ]);
  assert.equal(told.length, 100);
  assert.deepEqual(told[0], { ...fault, clusters: ['bee'] });
  assert.deepEqual(told[1], { ...idle(0), clusters: ['ant', 'bee'] });
});
