import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, Node, Pod } from '@asterism/machinery';
import { podRequests, summarizeCluster, trimNode, trimPod } from './summarize-cluster.ts';

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

const container = (requests: Record<string, string>, restartPolicy?: string): Container => ({
  name: 'c',
  image: 'i',
  resources: { requests, limits: { cpu: '64' } },
  ...(restartPolicy ? { restartPolicy } : {}),
});

function pod(
  nodeName: string | undefined,
  containers: Container[],
  phase: NonNullable<Pod['status']>['phase'] = 'Running',
): Pod {
  return { metadata: { name: 'p' }, spec: { ...(nodeName ? { nodeName } : {}), containers }, status: { phase } };
}

describe('podRequests', () => {
  const rows: { name: string; spec: NonNullable<Pod['spec']>; expect: Record<string, string> }[] = [
    { name: 'nothing asked for', spec: { containers: [container({})] }, expect: {} },
    {
      name: 'containers add up',
      spec: { containers: [container({ cpu: '100m', memory: '64Mi' }), container({ cpu: '1' })] },
      expect: { cpu: '1100m', memory: '64Mi' },
    },
    {
      name: 'the largest init container counts where it is larger than all the rest',
      spec: {
        initContainers: [container({ cpu: '2' }), container({ cpu: '500m', memory: '1Gi' })],
        containers: [container({ cpu: '100m', memory: '64Mi' })],
      },
      expect: { cpu: '2', memory: '1Gi' },
    },
    {
      name: 'a sidecar counts with the containers',
      spec: { initContainers: [container({ cpu: '1' }, 'Always')], containers: [container({ cpu: '1' })] },
      expect: { cpu: '2' },
    },
    {
      name: 'a sidecar that started before an init container counts with that too',
      spec: {
        initContainers: [container({ cpu: '1' }, 'Always'), container({ cpu: '3' }), container({ cpu: '1' }, 'Always')],
        containers: [container({ cpu: '1' })],
      },
      expect: { cpu: '4' },
    },
    {
      name: 'overhead comes on top',
      spec: { overhead: { cpu: '250m' }, containers: [container({ cpu: '1' })] },
      expect: { cpu: '1250m' },
    },
  ];
  for (const { name, spec, expect } of rows) {
    test(name, () => {
      assert.deepEqual(podRequests({ spec }), expect);
      assert.deepEqual(podRequests(trimPod({ spec })), expect, 'trimmed, it says the same');
    });
  }
});

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
    nodes: { total: 3, ready: 2 },
    resources: {
      capacity: { cpu: '8500m', memory: '24Gi', 'nvidia.com/gpu': '3', pods: '330' },
      allocatable: { cpu: '4', memory: '7Gi', 'nvidia.com/gpu': '1', pods: '110' },
      allocated: { cpu: '1250m', pods: '2' },
    },
    podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'],
  };

  test('counts what is there, and as free only what can be used', () => {
    assert.deepEqual(summarizeCluster(nodes, pods), expected);
  });

  test('trimmed objects add up to the same', () => {
    assert.deepEqual(summarizeCluster(nodes.map(trimNode), pods.map(trimPod)), expected);
    assert.equal(trimNode(nodes[0]!).metadata?.labels, undefined);
  });

  test('an empty cluster', () => {
    assert.deepEqual(summarizeCluster([], []), {
      nodes: { total: 0, ready: 0 },
      podCIDRs: [],
    });
  });
});
