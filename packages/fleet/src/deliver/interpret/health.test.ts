import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { healthOf } from './health.ts';
import { reflectStatus } from './reflect-status.ts';

const object = (apiVersion: string, kind: string, spec: object, status?: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 2 },
  spec,
  ...(status ? { status } : {}),
});

describe('healthOf', () => {
  const rolledOut = { observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3 };
  const rows: { name: string; subject: KubeObject; healthy: boolean }[] = [
    {
      name: 'Deployment rolled out',
      subject: object('apps/v1', 'Deployment', { replicas: 3 }, rolledOut),
      healthy: true,
    },
    {
      name: 'Deployment not seen',
      subject: object('apps/v1', 'Deployment', { replicas: 3 }, { ...rolledOut, observedGeneration: 1 }),
      healthy: false,
    },
    {
      name: 'Deployment not updated',
      subject: object('apps/v1', 'Deployment', { replicas: 4 }, rolledOut),
      healthy: false,
    },
    {
      name: 'StatefulSet not available',
      subject: object('apps/v1', 'StatefulSet', { replicas: 3 }, { ...rolledOut, availableReplicas: 2 }),
      healthy: false,
    },
    {
      name: 'ReplicaSet',
      subject: object('apps/v1', 'ReplicaSet', {}, { observedGeneration: 2, availableReplicas: 1 }),
      healthy: true,
    },
    {
      name: 'DaemonSet',
      subject: object(
        'apps/v1',
        'DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
      ),
      healthy: false,
    },
    { name: 'ClusterIP Service', subject: object('v1', 'Service', {}), healthy: true },
    {
      name: 'LoadBalancer without address',
      subject: object('v1', 'Service', { type: 'LoadBalancer' }, { loadBalancer: {} }),
      healthy: false,
    },
    {
      name: 'Ingress with a host name',
      subject: object('networking.k8s.io/v1', 'Ingress', {}, { loadBalancer: { ingress: [{ hostname: 'a' }] } }),
      healthy: true,
    },
    { name: 'claim bound', subject: object('v1', 'PersistentVolumeClaim', {}, { phase: 'Bound' }), healthy: true },
    { name: 'pod running, not ready', subject: object('v1', 'Pod', {}, { phase: 'Running' }), healthy: false },
    { name: 'pod succeeded', subject: object('v1', 'Pod', {}, { phase: 'Succeeded' }), healthy: true },
    {
      name: 'budget',
      subject: object('policy/v1', 'PodDisruptionBudget', {}, { currentHealthy: 1, desiredHealthy: 2 }),
      healthy: false,
    },
    { name: 'a kind without a rule', subject: object('v1', 'ConfigMap', {}), healthy: true },
    { name: 'an unknown Deployment', subject: object('example.com/v1', 'Deployment', { replicas: 3 }), healthy: true },
  ];
  for (const { name, subject, healthy } of rows) {
    test(name, () => assert.equal(healthOf(subject), healthy ? 'Healthy' : 'Unhealthy'));
  }
});

describe('reflectStatus', () => {
  test('what is known, without clocks', () => {
    const conditions = [{ type: 'Available', status: 'True', lastUpdateTime: 'x', lastTransitionTime: 'y' }];
    const subject = object('apps/v1', 'Deployment', {}, { replicas: 1, collisionCount: 4, conditions });
    const expected = { replicas: 1, conditions: [{ type: 'Available', status: 'True', lastTransitionTime: 'y' }] };
    assert.deepEqual(reflectStatus(subject), expected);
  });

  test('all of a kind that is not known', () => {
    assert.deepEqual(reflectStatus(object('example.com/v1', 'Widget', {}, { phase: 'Good' })), { phase: 'Good' });
  });

  test('none', () => assert.equal(reflectStatus(object('v1', 'ConfigMap', {})), undefined));
});
