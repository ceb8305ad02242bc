import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from './aggregate-status.ts';

const NOW = '2026-01-02T03:04:05Z';
const BEFORE = '2026-01-01T00:00:00Z';

const template = (apiVersion: string, kind: string, rest: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 4 },
  ...rest,
});
const nowhere = (object: KubeObject, wasPlaced: boolean) =>
  aggregateStatus({ template: object, reports: [], now: NOW, wasPlaced });

describe('what no cluster has any more does not stay as it was told', () => {
  const told = { observedGeneration: 4 };
  const rows: { kind: string; object: KubeObject; expected: unknown }[] = [
    {
      kind: 'StatefulSet',
      object: template('apps/v1', 'StatefulSet', { status: { ...told, replicas: 3, currentRevision: 'web-1' } }),
      expected: { replicas: 0, availableReplicas: 0 },
    },
    {
      kind: 'ReplicaSet',
      object: template('apps/v1', 'ReplicaSet', { status: { ...told, replicas: 3 } }),
      expected: { replicas: 0 },
    },
    {
      kind: 'DaemonSet, which kubectl would take for rolled out',
      object: template('apps/v1', 'DaemonSet', { status: { ...told, desiredNumberScheduled: 3 } }),
      expected: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    },
    {
      kind: 'CronJob',
      object: template('batch/v1', 'CronJob', { status: { active: [{ name: 'j1' }] } }),
      expected: {},
    },
    {
      kind: 'Service',
      object: template('v1', 'Service', {
        spec: { type: 'LoadBalancer' },
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
      }),
      expected: { loadBalancer: {} },
    },
    {
      kind: 'Ingress',
      object: template('networking.k8s.io/v1', 'Ingress', {
        status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
      }),
      expected: { loadBalancer: {} },
    },
    {
      kind: 'PersistentVolumeClaim',
      object: template('v1', 'PersistentVolumeClaim', { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }),
      expected: { phase: 'Pending' },
    },
    {
      kind: 'PersistentVolume',
      object: template('v1', 'PersistentVolume', { status: { phase: 'Bound' } }),
      expected: { phase: 'Pending' },
    },
    {
      kind: 'Pod',
      object: template('v1', 'Pod', {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: BEFORE }] },
      }),
      expected: {
        phase: 'Pending',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'NotPlaced',
            message: 'Pod is placed nowhere: `aster why pod/x` tells why.',
            lastTransitionTime: NOW,
          },
        ],
      },
    },
    {
      kind: 'PodDisruptionBudget',
      object: template('policy/v1', 'PodDisruptionBudget', { status: { ...told, disruptionsAllowed: 1 } }),
      expected: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
    },
    {
      kind: 'HorizontalPodAutoscaler',
      object: template('autoscaling/v2', 'HorizontalPodAutoscaler', { status: { ...told, currentReplicas: 2 } }),
      expected: { currentReplicas: 0, desiredReplicas: 0 },
    },
    {
      kind: 'Namespace, whose phase the API server of the templates says',
      object: template('v1', 'Namespace', { status: { phase: 'Active' } }),
      expected: undefined,
    },
  ];
  for (const { kind, object, expected } of rows) test(kind, () => assert.deepEqual(nowhere(object, true), expected));

  test('what was never placed is left as it is, where nothing is to be said of it', () => {
    for (const kind of ['Pod', 'PersistentVolumeClaim', 'PersistentVolume'])
      assert.equal(nowhere(template('v1', kind, { status: { phase: 'Pending' } }), false), undefined);
  });
});
