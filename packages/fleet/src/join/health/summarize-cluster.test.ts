import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, Node, Pod } from '@asterism/machinery';
import { container } from '../../capacity/testing/container.ts';
import { nodeFacts, podFacts } from './member-facts.ts';
import { summarizeCluster } from './summarize-cluster.ts';

function node(name: string, ready: boolean, options: { cordoned?: boolean; cpu?: string; cidr?: string } = {}): Node {
  const resources = { cpu: options.cpu ?? '4', memory: '8Gi', pods: '110', 'nvidia.com/gpu': '1' };
  return {
    metadata: { name, labels: { big: 'x' } },
    spec: { unschedulable: options.cordoned ?? false, podCIDRs: options.cidr ? [options.cidr] : [] },
    status: {
      capacity: resources,
      allocatable: { ...resources, memory: '7Gi' },
      conditions: [
        { type: 'MemoryPressure', status: 'False' },
        { type: 'Ready', status: ready ? 'True' : 'Unknown' },
      ],
    },
  };
}

function pod(
  nodeName: string | undefined,
  containers: Container[],
  phase: NonNullable<Pod['status']>['phase'] = 'Running',
): Pod {
  return { metadata: { name: 'p' }, spec: { ...(nodeName ? { nodeName } : {}), containers }, status: { phase } };
}

describe('summarizeCluster', () => {
  const nodes = [
    node('a', true, { cidr: '10.0.1.0/24' }),
    node('b', true, { cordoned: true, cidr: '10.0.0.0/24' }),
    node('c', false, { cpu: '500m' }),
  ];
  const pods = [
    pod('a', [container({ cpu: '250m' })]),
    pod('a', [container({ cpu: '1' })], 'Pending'),
    pod('a', [container({ cpu: '2' })], 'Succeeded'),
    pod('c', [container({ cpu: '2' })]),
    pod(undefined, [container({ cpu: '3' })], 'Pending'),
  ];
  const expected = {
    nodes: { total: 3, ready: 2, notReady: 1, schedulable: 1 },
    pods: { running: 2, pending: 2, max: 110 },
    resources: {
      capacity: { cpu: '8500m', memory: '24Gi', 'nvidia.com/gpu': '3', pods: '330' },
      allocatable: { cpu: '4', memory: '7Gi', 'nvidia.com/gpu': '1', pods: '110' },
      allocated: { cpu: '1250m', pods: '2' },
      requested: { cpu: '6250m', pods: '4' },
    },
    nodeCapacity: {
      resources: ['cpu', 'memory', 'pods', 'nvidia.com/gpu'],
      labels: { big: 'x' },
      pools: [{ nodes: 1, grades: [{ nodes: 1, free: [2750, 7 * 2 ** 30, 108, 1] }] }],
    },
    podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'],
    glance: { nodes: '2/3', freeCPU: '2.75', freeMemory: '7Gi' },
  };
  const summaryOf = (someNodes: Node[], somePods: Pod[]) =>
    summarizeCluster(someNodes.map(nodeFacts), somePods.map(podFacts));

  test('counts what is there, and as free only what can be used', () => {
    assert.deepEqual(summaryOf(nodes, pods), expected);
  });

  test('a node that holds more than it has is full, and takes nothing from the others', () => {
    const full = summaryOf(
      [node('a', true), node('b', true)],
      [pod('a', [container({ cpu: '6' })]), pod('b', [container({ cpu: '1' })])],
    );
    const frees = full.nodeCapacity.pools.flatMap(({ grades }) => grades.map(({ free }) => free[0]));
    assert.deepEqual(frees, [3000, 0]);
  });

  test('an empty cluster', () => {
    assert.deepEqual(summaryOf([], []), {
      nodes: { total: 0, ready: 0, notReady: 0, schedulable: 0 },
      pods: { running: 0, pending: 0, max: 0 },
      nodeCapacity: { resources: [], pools: [] },
      podCIDRs: [],
      glance: { nodes: '0/0' },
    });
  });

  test('a glance has three digits, rounded down', () => {
    const big = node('big', true, { cpu: '129999m' });
    assert.deepEqual(summaryOf([big], []).glance, { nodes: '1/1', freeCPU: '129', freeMemory: '7Gi' });
    const small = summaryOf([node('s', true, { cpu: '3999m' })], [pod('s', [container({ memory: '6500Mi' })])]);
    assert.deepEqual(small.glance, { nodes: '1/1', freeCPU: '3.99', freeMemory: '668Mi' });
  });
});
