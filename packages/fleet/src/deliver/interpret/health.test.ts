import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { type Health, healthOf } from './health.ts';

const object = (apiVersion: string, kind: string, spec: object, status?: object, metadata?: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 2, ...metadata },
  spec,
  ...(status ? { status } : {}),
});
const saying = (...conditions: [type: string, status: string, rest?: object][]) => ({
  conditions: conditions.map(([type, status, rest]) => ({ type, status, ...rest })),
});

type Row = [name: string, spec: object, status: object | undefined, expected: Health];

function table(apiVersion: string, kind: string, rows: readonly Row[]): void {
  describe(kind, () => {
    for (const [name, spec, status, expected] of rows)
      test(name, () => assert.equal(healthOf(object(apiVersion, kind, spec, status)), expected));
  });
}

const rolledOut = { observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3 };
const onDelete = { updateStrategy: { type: 'OnDelete' } };
const partitioned = { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } };

table('apps/v1', 'Deployment', [
  ['rolled out', { replicas: 3 }, rolledOut, 'Healthy'],
  ['nothing said yet', { replicas: 3 }, undefined, 'Unhealthy'],
  ['its controller has not said what it has seen', { replicas: 0 }, { availableReplicas: 0 }, 'Unhealthy'],
  ['not seen', { replicas: 3 }, { ...rolledOut, observedGeneration: 1 }, 'Unhealthy'],
  ['not updated', { replicas: 4 }, rolledOut, 'Unhealthy'],
  ['not available', { replicas: 3 }, { ...rolledOut, availableReplicas: 2 }, 'Unhealthy'],
  ['one by default', {}, { observedGeneration: 2 }, 'Unhealthy'],
]);

table('apps/v1', 'StatefulSet', [
  ['rolled out', { replicas: 3 }, rolledOut, 'Healthy'],
  ['not seen', { replicas: 3 }, { ...rolledOut, observedGeneration: 1 }, 'Unhealthy'],
  ['not available', { replicas: 3 }, { ...rolledOut, availableReplicas: 2 }, 'Unhealthy'],
  ['the rest behind a partition', partitioned, { ...rolledOut, updatedReplicas: 1 }, 'Healthy'],
  ['not up to the partition', partitioned, { ...rolledOut, updatedReplicas: 0 }, 'Unhealthy'],
  ['down behind the partition', partitioned, { ...rolledOut, updatedReplicas: 1, availableReplicas: 2 }, 'Unhealthy'],
  ['updated by hand', { ...onDelete, replicas: 3 }, { ...rolledOut, updatedReplicas: 0 }, 'Healthy'],
]);

table('apps/v1', 'ReplicaSet', [
  ['available', {}, { observedGeneration: 2, availableReplicas: 1 }, 'Healthy'],
  ['not seen', {}, { observedGeneration: 1, availableReplicas: 1 }, 'Unhealthy'],
  ['not available', { replicas: 2 }, { observedGeneration: 2, availableReplicas: 1 }, 'Unhealthy'],
]);

const everywhere = { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
table('apps/v1', 'DaemonSet', [
  ['rolled out', {}, everywhere, 'Healthy'],
  ['nothing said yet', {}, undefined, 'Unhealthy'],
  ['not seen', {}, { ...everywhere, observedGeneration: 1 }, 'Unhealthy'],
  ['not updated', {}, { ...everywhere, updatedNumberScheduled: 1 }, 'Unhealthy'],
  ['not available', {}, { ...everywhere, numberAvailable: 1 }, 'Unhealthy'],
  ['updated by hand', onDelete, { ...everywhere, updatedNumberScheduled: 0 }, 'Healthy'],
]);

table('batch/v1', 'Job', [
  ['not started', {}, undefined, 'Unhealthy'],
  ['runs', {}, { startTime: '2026-01-01T00:00:00Z', active: 1 }, 'Healthy'],
  ['complete', {}, saying(['Complete', 'True']), 'Healthy'],
  ['suspended', {}, saying(['Suspended', 'True']), 'Healthy'],
  ['about to fail', {}, { startTime: 'x', ...saying(['FailureTarget', 'True']) }, 'Unhealthy'],
  ['failed', {}, { startTime: 'x', ...saying(['Failed', 'True']) }, 'Unhealthy'],
]);

table('batch/v1', 'CronJob', [['whenever it stands there', {}, undefined, 'Healthy']]);

table('v1', 'Service', [
  ['within the cluster', {}, undefined, 'Healthy'],
  ['without an address yet', { type: 'LoadBalancer' }, { loadBalancer: {} }, 'Unhealthy'],
  ['with one', { type: 'LoadBalancer' }, { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } }, 'Healthy'],
]);

table('networking.k8s.io/v1', 'Ingress', [
  ['with a host name', {}, { loadBalancer: { ingress: [{ hostname: 'a' }] } }, 'Healthy'],
  ['without', {}, { loadBalancer: {} }, 'Unhealthy'],
]);

table('v1', 'PersistentVolumeClaim', [
  ['bound', {}, { phase: 'Bound' }, 'Healthy'],
  ['pending', {}, { phase: 'Pending' }, 'Unhealthy'],
  ['lost', {}, { phase: 'Lost' }, 'Unhealthy'],
]);

table('v1', 'PersistentVolume', [
  ['free', {}, { phase: 'Available' }, 'Healthy'],
  ['failed', {}, { phase: 'Failed' }, 'Unhealthy'],
]);

table('v1', 'Pod', [
  ['running and ready', {}, { phase: 'Running', ...saying(['Ready', 'True']) }, 'Healthy'],
  ['running, not ready', {}, { phase: 'Running' }, 'Unhealthy'],
  ['succeeded', {}, { phase: 'Succeeded' }, 'Healthy'],
  ['failed', {}, { phase: 'Failed' }, 'Unhealthy'],
  ['that finds no node', {}, { phase: 'Pending', ...saying(['PodScheduled', 'False']) }, 'Unhealthy'],
]);

table('policy/v1', 'PodDisruptionBudget', [
  ['kept', {}, { observedGeneration: 2, currentHealthy: 2, desiredHealthy: 2 }, 'Healthy'],
  ['broken', {}, { observedGeneration: 2, currentHealthy: 1, desiredHealthy: 2 }, 'Unhealthy'],
  ['not counted since its change', {}, { observedGeneration: 1, currentHealthy: 2, desiredHealthy: 2 }, 'Unhealthy'],
]);

table('autoscaling/v2', 'HorizontalPodAutoscaler', [
  ['nothing said yet', {}, undefined, 'Healthy'],
  ['scales', {}, saying(['AbleToScale', 'True'], ['ScalingActive', 'True'], ['ScalingLimited', 'True']), 'Healthy'],
  ['has no metrics', {}, saying(['ScalingActive', 'False', { reason: 'FailedGetResourceMetric' }]), 'Unhealthy'],
  ['has no target', {}, saying(['AbleToScale', 'False', { reason: 'FailedGetScale' }]), 'Unhealthy'],
  [
    'is off, its target has no replicas',
    {},
    saying(['ScalingActive', 'False', { reason: 'ScalingDisabled' }]),
    'Healthy',
  ],
]);

table('v1', 'Namespace', [
  ['active', {}, { phase: 'Active' }, 'Healthy'],
  ['terminating', {}, { phase: 'Terminating' }, 'Unhealthy'],
]);

table('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [
  ['established', {}, saying(['NamesAccepted', 'True'], ['Established', 'True']), 'Healthy'],
  ['installing', {}, saying(['Established', 'False', { reason: 'Installing' }]), 'Unhealthy'],
  ['names taken', {}, saying(['NamesAccepted', 'False'], ['Established', 'True']), 'Unhealthy'],
  ['nothing said yet', {}, undefined, 'Unhealthy'],
]);

table('apiregistration.k8s.io/v1', 'APIService', [
  ['answers', {}, saying(['Available', 'True']), 'Healthy'],
  ['does not', {}, saying(['Available', 'False']), 'Unhealthy'],
]);

table('example.com/v1', 'Widget', [
  ['no status', {}, undefined, 'Healthy'],
  ['no condition to go by', {}, saying(['Painted', 'False']), 'Healthy'],
  ['ready', {}, saying(['Ready', 'True']), 'Healthy'],
  ['not ready', {}, saying(['Ready', 'False']), 'Unhealthy'],
  ['cannot tell', {}, saying(['Ready', 'Unknown']), 'Unknown'],
  ['ready as of the generation before', {}, saying(['Ready', 'True', { observedGeneration: 1 }]), 'Unhealthy'],
  ['seen the generation before', {}, { observedGeneration: 1, ...saying(['Ready', 'True']) }, 'Unhealthy'],
  ['a generation that is no number', {}, { observedGeneration: '1', ...saying(['Ready', 'True']) }, 'Healthy'],
  ['at work', {}, saying(['Ready', 'True'], ['Reconciling', 'True']), 'Unhealthy'],
  ['stalled', {}, saying(['Stalled', 'True']), 'Unhealthy'],
  ['neither', {}, saying(['Reconciling', 'False'], ['Stalled', 'False']), 'Healthy'],
]);

table('example.com/v1', 'Deployment', [['that is none of Kubernetes', { replicas: 3 }, undefined, 'Healthy']]);

test('what is being deleted is Unhealthy, whatever its kind', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(healthOf(object('v1', 'ConfigMap', {}, undefined, metadata)), 'Unhealthy');
  assert.equal(healthOf(object('v1', 'ConfigMap', {})), 'Healthy');
});
