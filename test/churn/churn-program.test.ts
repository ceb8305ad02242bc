import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Choices } from '../differential/choices.ts';
import { churnProgram } from './churn-program.ts';

function whats(seed: number): string[] {
  const { fill, churn } = churnProgram(new Choices(seed, 'churn'), 600);
  return [...fill, ...churn].map(({ what }) => what);
}

test('a seed gives the same changes each time, and another seed others', () => {
  assert.deepEqual(whats(1), whats(1));
  assert.notDeepEqual(whats(1), whats(2));
});

test('every kind of change is among those of ten minutes', () => {
  const all = whats(1).join('\n');
  for (const what of [
    /^make Deployment/m,
    /^make StatefulSet/m,
    /^make DaemonSet/m,
    /^scale to \d+ StatefulSet/m,
    /^roll to \d+ DaemonSet/m,
    /^delete \(Orphan\) Deployment/m,
    /^delete \(Foreground\) ConfigMap/m,
    /^make Job/m,
    /^delete \(Background\) Job/m,
    /^make CronJob/m,
    /^select \S+ Service/m,
    /^delete Service/m,
    /^delete Namespace/m,
    /^node-dead dies/m,
    /^node-flapping comes back/m,
  ]) {
    assert.match(all, what);
  }
});
