import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReplicaEstimates } from '../place/replica-estimate.ts';
import { deployment } from '../place/testing/build.ts';
import { workloadOf } from './workload.ts';

const container = (requests: Record<string, string>, extra: object = {}) => ({
  name: 'c',
  resources: { requests },
  ...extra,
});

describe('workloadOf', () => {
  const rows: { name: string; podSpec: object; expected: Record<string, string> }[] = [
    { name: 'asks for nothing', podSpec: {}, expected: {} },
    {
      name: 'the sum of containers',
      podSpec: { containers: [container({ cpu: '250m' }), container({ cpu: '1', memory: '1Gi' })] },
      expected: { cpu: '1250m', memory: '1Gi' },
    },
    {
      name: 'a limit is a request',
      podSpec: { containers: [{ name: 'c', resources: { limits: { cpu: '2' } } }] },
      expected: { cpu: '2' },
    },
    {
      name: 'the largest init container',
      podSpec: {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '3' }), container({ cpu: '2' })],
      },
      expected: { cpu: '3' },
    },
    {
      name: 'sidecars run beside',
      podSpec: {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '1' }, { restartPolicy: 'Always' })],
      },
      expected: { cpu: '2' },
    },
    {
      name: 'an init container after a sidecar',
      podSpec: {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '1' }, { restartPolicy: 'Always' }), container({ cpu: '3' })],
      },
      expected: { cpu: '4' },
    },
    {
      name: 'overhead',
      podSpec: { containers: [container({ cpu: '1' })], overhead: { cpu: '100m' } },
      expected: { cpu: '1100m' },
    },
  ];
  for (const { name, podSpec, expected } of rows) {
    test(name, () => assert.deepEqual(workloadOf(deployment(3, { podSpec })), { replicas: 3, requirements: expected }));
  }

  test('which kinds have replicas', () => {
    const of = (apiVersion: string, kind: string, spec: object) => workloadOf({ apiVersion, kind, spec })?.replicas;
    assert.equal(of('apps/v1', 'StatefulSet', {}), 1);
    assert.equal(of('apps/v1', 'Deployment', { replicas: 0 }), 0);
    assert.equal(of('apps/v1', 'ReplicaSet', { replicas: 4 }), 4);
    assert.equal(of('batch/v1', 'Job', { parallelism: 4 }), 4);
    assert.equal(of('v1', 'Pod', { containers: [] }), 1);
    assert.equal(of('apps/v1', 'DaemonSet', {}), undefined);
    assert.equal(of('v1', 'Service', {}), undefined);
    assert.equal(of('example.com/v1', 'Deployment', { replicas: 3 }), undefined);
  });

  test('a Job runs no more pods at a time than it has completions', () => {
    const of = (spec: object) => workloadOf({ apiVersion: 'batch/v1', kind: 'Job', spec })?.replicas;
    assert.equal(of({ parallelism: 10, completions: 3 }), 3);
    assert.equal(of({ parallelism: 2, completions: 3 }), 2);
    assert.equal(of({ completions: 3 }), 1);
    assert.equal(of({ completions: 0 }), 0);
    assert.equal(
      workloadOf({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 3, completions: 1 } })?.replicas,
      3,
    );
  });
});

describe('replicaEstimate', () => {
  const resources = {
    allocatable: { cpu: '4', memory: '8Gi', pods: '20' },
    allocated: { cpu: '500m', memory: '1Gi', pods: '5' },
  };
  const rows: { name: string; requirements: Record<string, string>; expected: number }[] = [
    { name: 'no request: the pods left', requirements: {}, expected: 15 },
    { name: 'cpu decides', requirements: { cpu: '1', memory: '1Gi' }, expected: 3 },
    { name: 'memory decides', requirements: { cpu: '100m', memory: '2Gi' }, expected: 3 },
    { name: 'never more than the pods', requirements: { cpu: '1m' }, expected: 15 },
    { name: 'a request of 0 is none', requirements: { 'example.com/gpu': '0' }, expected: 15 },
    { name: 'what it does not have', requirements: { 'example.com/gpu': '1' }, expected: 0 },
  ];
  for (const { name, requirements, expected } of rows) {
    test(name, () => assert.equal(new ReplicaEstimates().of({ requirements })({ resources }), expected));
  }

  test('no account, no room', () => assert.equal(new ReplicaEstimates().of({ requirements: {} })(undefined), 0));
  test('more pods than it admits: no room', () => {
    const full = { allocatable: { pods: '3' }, allocated: { pods: '5' } };
    assert.equal(new ReplicaEstimates().of({ requirements: {} })({ resources: full }), 0);
  });
});
