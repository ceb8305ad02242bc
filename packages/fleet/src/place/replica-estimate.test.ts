import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReplicaEstimates } from './replica-estimate.ts';
import { deployment } from './testing/build.ts';
import { workloadOf } from '../template/workload.ts';

const resources = {
  allocatable: { cpu: '10', memory: '40Gi', pods: '100' },
  allocated: { cpu: '1', memory: '4Gi', pods: '10' },
};
const nodeCapacity = {
  resources: ['cpu', 'memory', 'pods'],
  pools: [
    { nodes: 2, labels: { disk: 'ssd' }, grades: [{ nodes: 2, free: [1_500, 4 * 2 ** 30, 30] }] },
    {
      nodes: 1,
      taints: [{ key: 'team', effect: 'NoSchedule' as const }],
      grades: [{ nodes: 1, free: [6_000, 2 ** 40, 30] }],
    },
  ],
};
const needs = (podSpec: object = {}) => {
  const container = { name: 'web', image: 'i', resources: { requests: { cpu: '1' } } };
  const workload = workloadOf(deployment(3, { podSpec: { containers: [container], ...podSpec } }));
  assert.ok(workload);
  return workload;
};

const replicaEstimate = (of: Parameters<ReplicaEstimates['of']>[0]) => new ReplicaEstimates().of(of);

describe('how many replicas a cluster can take', () => {
  test('by the grades of its nodes, where it tells them', () => {
    assert.equal(replicaEstimate(needs())({ resources, nodeCapacity }), 2);
  });

  test('by its sums, where it does not', () => {
    assert.equal(replicaEstimate(needs())({ resources }), 9);
  });

  test('fractions are rounded after what is taken is taken off', () => {
    const fractions = { allocatable: { cpu: '3000100u', pods: '9' }, allocated: { cpu: '100u' } };
    assert.equal(replicaEstimate({ requirements: { cpu: '1' } })({ resources: fractions }), 3);
    assert.equal(replicaEstimate({ requirements: { cpu: '1500050u' } })({ resources: fractions }), 1);
    const short = { allocatable: { cpu: '2', pods: '9' }, allocated: { cpu: '1u' } };
    assert.equal(replicaEstimate({ requirements: { cpu: '1' } })({ resources: short }), 2);
  });

  test('none, where it gave no account', () => {
    assert.equal(replicaEstimate(needs())(undefined), 0);
    assert.equal(replicaEstimate(needs())({}), 0);
    assert.equal(replicaEstimate(needs())({ nodeCapacity: { resources: [], pools: [] } }), 0);
  });

  test('on the nodes that the template may go to', () => {
    const tolerations = [{ key: 'team', operator: 'Exists' }];
    assert.equal(replicaEstimate(needs({ tolerations }))({ nodeCapacity }), 8);
    assert.equal(replicaEstimate(needs({ tolerations, nodeSelector: { disk: 'ssd' } }))({ nodeCapacity }), 2);
    assert.equal(replicaEstimate(needs({ nodeSelector: { disk: 'hdd' } }))({ nodeCapacity }), 0);
  });

  test('what is kept of one account is not taken for another, nor for other needs', () => {
    const estimates = new ReplicaEstimates();
    const [small, large] = [needs(), needs({ tolerations: [{ key: 'team', operator: 'Exists' }] })];
    const ask = () => [
      estimates.of(small)({ nodeCapacity }),
      estimates.of(large)({ nodeCapacity }),
      estimates.of(small)({ nodeCapacity: { ...nodeCapacity, pools: [] } }),
      estimates.of(small)({ resources }),
      estimates.of({ requirements: { cpu: '3' } })({ resources }),
      estimates.of(small)({ resources: { ...resources, allocated: {} } }),
    ];
    assert.deepEqual(ask(), [2, 8, 0, 9, 3, 10]);
    assert.deepEqual(ask(), [2, 8, 0, 9, 3, 10]);
  });

  test('more questions than are kept are answered all the same', () => {
    const estimates = new ReplicaEstimates();
    for (let cpu = 1; cpu <= 600; cpu += 1) {
      const expected = 2 * Math.min(30, Math.floor(1_500 / (cpu * 10)));
      assert.equal(estimates.of({ requirements: { cpu: `${cpu * 10}m` } })({ nodeCapacity }), expected);
    }
  });
});
