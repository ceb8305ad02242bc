import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, StatefulSet, StatefulSetSpec } from '@asterism/machinery';
import { planStatefulSet } from './stateful-set-plan.ts';

type Is = 'ready' | 'unready' | 'leaving' | 'failed';

const set = (spec: Partial<StatefulSetSpec> = {}): StatefulSet => ({
  metadata: { name: 'db' },
  spec: { replicas: 3, selector: {}, template: {}, ...spec },
});

/** `0 ready new`: an ordinal, how it is, and of which revision. */
function pod(text: string): Pod {
  const [ordinal, is, revision = 'old'] = text.split(' ') as [string, Is, string?];
  return {
    metadata: {
      name: `db-${ordinal}`,
      labels: { 'controller-revision-hash': revision },
      ...(is === 'leaving' ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    status: {
      phase: is === 'failed' ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: is === 'ready' || is === 'leaving' ? 'True' : 'False' }],
    },
  };
}

const parallel = { podManagementPolicy: 'Parallel' as const };
const rolling = (rollingUpdate: { partition?: number; maxUnavailable?: number }) => ({
  updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate },
});

const ROWS: [name: string, spec: Partial<StatefulSetSpec>, pods: string[], create: string[], remove: string[]][] = [
  ['the first is made first', {}, [], ['0 new'], []],
  ['the next waits until the last is ready', {}, ['0 unready new'], [], []],
  ['the next is made when the last is ready', {}, ['0 ready new'], ['1 new'], []],
  ['ordinals begin where they are told to', { ordinals: { start: 5 } }, ['5 ready new'], ['6 new'], []],
  ['all at once in parallel', parallel, ['1 unready new'], ['0 new', '2 new'], []],
  ['one that has ended is replaced', {}, ['0 ready new', '1 failed new'], [], ['db-1']],
  ['one on its way out is waited for', {}, ['0 ready new', '1 leaving new', '2 ready new', '3 ready new'], [], []],
  [
    'too many go from the top, one by one',
    { replicas: 1 },
    ['0 ready new', '1 ready new', '2 ready new'],
    [],
    ['db-2'],
  ],
  [
    'too many go at once in parallel',
    { ...parallel, replicas: 1 },
    ['0 ready new', '1 ready new', '2 ready new'],
    [],
    ['db-2', 'db-1'],
  ],
  ['a rollout begins at the top', {}, ['0 ready', '1 ready', '2 ready'], [], ['db-2']],
  ['and waits for each', { ...parallel }, ['0 ready', '1 ready', '2 unready new'], [], []],
  ['and goes on', {}, ['0 ready', '1 ready', '2 ready new'], [], ['db-1']],
  ['down to the partition', rolling({ partition: 2 }), ['0 ready', '1 ready', '2 ready new'], [], []],
  ['below which the old is made anew', rolling({ partition: 2 }), ['1 ready', '2 ready new'], ['0 old'], []],
  [
    'several at a time where it may',
    { ...parallel, ...rolling({ maxUnavailable: 2 }) },
    ['0 ready', '1 ready', '2 ready'],
    [],
    ['db-2', 'db-1'],
  ],
  ['what serves nobody is updated too', parallel, ['0 unready', '1 unready', '2 unready'], [], ['db-2']],
  ['OnDelete leaves them alone', { updateStrategy: { type: 'OnDelete' } }, ['0 ready', '1 ready', '2 ready'], [], []],
  ['OnDelete makes the new', { updateStrategy: { type: 'OnDelete' } }, ['1 ready', '2 ready'], ['0 new'], []],
];

describe('the next step of a StatefulSet', () => {
  for (const [name, spec, pods, create, remove] of ROWS) {
    test(name, () => {
      const plan = planStatefulSet(set(spec), pods.map(pod), { current: 'old', update: 'new' }, Date.UTC(2030, 0));
      assert.deepEqual(
        plan.create.map(({ ordinal, revision }) => `${ordinal} ${revision}`),
        create,
      );
      assert.deepEqual(
        plan.remove.map(({ metadata }) => metadata?.name),
        remove,
      );
    });
  }
});
