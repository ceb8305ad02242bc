import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Cluster } from '../../api/index.ts';
import { type StatusChange, statusChange } from './status-change.ts';

type Status = NonNullable<Cluster['status']>;

const before: Status = {
  kubernetesVersion: 'v1.36.0',
  conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' }],
  nodes: { total: 2, ready: 2 },
  pods: { running: 20, pending: 0, max: 220 },
  resources: {
    allocatable: { cpu: '100', memory: '400Gi', 'nvidia.com/gpu': '8' },
    allocated: { cpu: '50', memory: '100Gi' },
    requested: { cpu: '50', memory: '100Gi' },
  },
  nodeCapacity: { resources: ['cpu'], pools: [{ nodes: 2, grades: [{ nodes: 2, free: [25_000] }] }] },
  tunnel: { roundTripMilliseconds: 40 },
  glance: { nodes: '2/2', freeCPU: '50' },
};

const allocated = (change: Record<string, string>): Status => ({
  ...before,
  resources: { ...before.resources, allocated: { ...before.resources?.allocated, ...change } },
});

describe('how much a change of the status matters', () => {
  const rows: [what: string, after: Status, change: StatusChange][] = [
    ['nothing', structuredClone(before), 'none'],
    ['another version', { ...before, kubernetesVersion: 'v1.37.0' }, 'facts'],
    ['a node that is not ready', { ...before, nodes: { total: 2, ready: 1 } }, 'facts'],
    ['a condition', { ...before, conditions: [{ ...before.conditions![0]!, status: 'False' }] }, 'facts'],
    ['what nodes have', { ...before, resources: { ...before.resources, allocatable: { cpu: '104' } } }, 'facts'],
    [
      'a taint of a pool',
      {
        ...before,
        nodeCapacity: {
          resources: ['cpu'],
          pools: [{ nodes: 2, taints: [{ key: 'a', effect: 'NoSchedule' }], grades: [] }],
        },
      },
      'facts',
    ],
    ['a hundredth of all cpu', allocated({ cpu: '51' }), 'figures'],
    ['less than that', allocated({ cpu: '50500m' }), 'step'],
    ['the first of a resource, however little', allocated({ 'example.com/disk': '1' }), 'figures'],
    ['the last of it', { ...before, resources: { ...before.resources, allocated: { cpu: '50' } } }, 'figures'],
    ['one pod of many', { ...before, pods: { running: 21, pending: 0, max: 220 } }, 'step'],
    ['the first that waits', { ...before, pods: { running: 20, pending: 1, max: 220 } }, 'figures'],
    [
      'the same sums, spread otherwise',
      {
        ...before,
        nodeCapacity: { resources: ['cpu'], pools: [{ nodes: 2, grades: [{ nodes: 2, free: [20_000] }] }] },
      },
      'step',
    ],
    ['a round trip like the one before', { ...before, tunnel: { roundTripMilliseconds: 55 } }, 'step'],
    ['one that is much longer', { ...before, tunnel: { roundTripMilliseconds: 90 } }, 'figures'],
    ['one on loopback', { ...before, tunnel: { roundTripMilliseconds: 1 } }, 'figures'],
  ];
  for (const [what, after, change] of rows) {
    test(`${what}: ${change}`, () => assert.equal(statusChange(before, after), change));
  }

  test('what a busy end adds to a short round trip is not told at once', () => {
    const near = { ...before, tunnel: { roundTripMilliseconds: 1 } };
    assert.equal(statusChange(near, { ...before, tunnel: { roundTripMilliseconds: 20 } }), 'step');
    assert.equal(statusChange(near, { ...before, tunnel: { roundTripMilliseconds: 21 } }), 'figures');
  });

  test('where nothing was told, all is news', () => assert.equal(statusChange({}, before), 'facts'));
});
