import { AN_HOUR_AGO, testCells } from './testing/test-cells.ts';

testCells([
  [
    'ReplicaSet',
    'apps',
    'ReplicaSet',
    {
      spec: {
        replicas: 3,
        selector: {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
        },
        template: {
          spec: {
            containers: [
              { name: 'x', image: 'i:1' },
              { name: 'y', image: 'i:2' },
            ],
          },
        },
      },
      status: { replicas: 2, readyReplicas: 1 },
    },
    { Desired: 3, Current: 2, Ready: 1, Containers: 'x,y', Images: 'i:1,i:2', Selector: 'app=web,tier in (a,b)' },
  ],
  [
    'a selector that is wrong',
    'apps',
    'ReplicaSet',
    { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
    { Selector: '<error>' },
  ],
  [
    'ControllerRevision of a StatefulSet',
    'apps',
    'ControllerRevision',
    {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '1' },
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: '2', controller: true },
        ],
      },
      revision: 4,
    },
    { Controller: 'statefulset.apps/db', Revision: 4 },
  ],
  [
    'Job that runs',
    'batch',
    'Job',
    { spec: { completions: 5 }, status: { startTime: AN_HOUR_AGO, succeeded: 2 } },
    { Status: 'Running', Completions: '2/5', Duration: '60m' },
  ],
  [
    'Job that is complete',
    'batch',
    'Job',
    {
      spec: { completions: 1 },
      status: {
        startTime: AN_HOUR_AGO,
        completionTime: '2026-01-02T02:04:15Z',
        succeeded: 1,
        conditions: [{ type: 'Complete', status: 'True' }],
      },
    },
    { Status: 'Complete', Completions: '1/1', Duration: '10s' },
  ],
  [
    'Job without a number of completions',
    'batch',
    'Job',
    { spec: { parallelism: 3 }, status: { succeeded: 1, conditions: [{ type: 'Suspended', status: 'True' }] } },
    { Status: 'Suspended', Completions: '1/1 of 3', Duration: '' },
  ],
  [
    'Scale',
    'autoscaling',
    'Scale',
    { metadata: { name: 'web' }, spec: { replicas: 3 }, status: { replicas: 2 } },
    { Name: 'web', Desired: 3, Available: 2 },
  ],
  [
    'PodDisruptionBudget',
    'policy',
    'PodDisruptionBudget',
    { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
    { 'Min Available': '50%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 2 },
  ],
]);
