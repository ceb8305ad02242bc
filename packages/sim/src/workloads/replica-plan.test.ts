import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@asterism/machinery';
import fc from 'fast-check';
import { planReplicas } from './replica-plan.ts';

const owner = { name: 'web', uid: 'u-1' };
const pod = (name: string, extra: Partial<Pod['metadata']> = {}, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: '2030-01-01T00:00:00Z', ...extra },
  status,
});
const named = (names: readonly string[]): Pod[] => names.map((name) => pod(name));

test('the same picture gives the same names, so that making them twice makes nothing twice', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), (before, wanted) => {
      const standing = named(planReplicas(owner, before, []).create);
      const plan = planReplicas(owner, wanted, standing);
      assert.deepEqual(planReplicas(owner, wanted, standing), plan);
      assert.equal(
        new Set([...standing.map(({ metadata }) => metadata?.name), ...plan.create]).size,
        standing.length + plan.create.length,
      );
      assert.equal(standing.length + plan.create.length - plan.remove.length, wanted);
    }),
  );
});

test('a pod on its way out counts no more but keeps its name', () => {
  const [name = ''] = planReplicas(owner, 1, []).create;
  const plan = planReplicas(owner, 1, [pod(name, { deletionTimestamp: '2030-01-01T00:00:01Z' })]);
  assert.equal(plan.create.length, 1);
  assert.notEqual(plan.create[0], name);
});

test('given up first: what is not scheduled, then not running, then not ready, then the youngest', () => {
  const running = { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'True' as const }] };
  const pods: Pod[] = [
    { ...pod('old', {}, running), spec: { nodeName: 'n', containers: [] } },
    {
      ...pod('young', { creationTimestamp: '2030-01-02T00:00:00Z' }, running),
      spec: { nodeName: 'n', containers: [] },
    },
    { ...pod('unready', {}, { phase: 'Running' }), spec: { nodeName: 'n', containers: [] } },
    { ...pod('starting', {}, { phase: 'Pending' }), spec: { nodeName: 'n', containers: [] } },
    pod('unscheduled'),
  ];
  const order = planReplicas(owner, 0, pods).remove.map(({ metadata }) => metadata?.name);
  assert.deepEqual(order, ['unscheduled', 'starting', 'unready', 'young', 'old']);
});
