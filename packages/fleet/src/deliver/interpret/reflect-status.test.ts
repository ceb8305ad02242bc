import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { reflectStatus } from './reflect-status.ts';

const object = (apiVersion: string, kind: string, status?: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 2 },
  ...(status ? { status } : {}),
});

describe('reflectStatus', () => {
  test('what is known, without clocks', () => {
    const conditions = [{ type: 'Available', status: 'True', lastUpdateTime: 'x', lastTransitionTime: 'y' }];
    const subject = object('apps/v1', 'Deployment', { replicas: 1, collisionCount: 4, conditions });
    const expected = { replicas: 1, conditions: [{ type: 'Available', status: 'True', lastTransitionTime: 'y' }] };
    assert.deepEqual(reflectStatus(subject), expected);
  });

  test('of a StatefulSet what it has seen, and its revisions', () => {
    const status = { observedGeneration: 2, replicas: 1, currentRevision: 'a', updateRevision: 'b' };
    assert.deepEqual(reflectStatus(object('apps/v1', 'StatefulSet', { ...status, collisionCount: 0 })), status);
  });

  test('of an autoscaler what keeps it from its work, and nothing that follows its metrics', () => {
    const counters = { currentReplicas: 1, desiredReplicas: 2 };
    const limited = { type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas' };
    const active = { type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound' };
    const status = { ...counters, lastScaleTime: 'x', currentMetrics: [{}], conditions: [active, limited] };
    const autoscaler = (given: object) => reflectStatus(object('autoscaling/v2', 'HorizontalPodAutoscaler', given));
    assert.deepEqual(autoscaler(status), counters);
    const faulty = { ...active, status: 'False', reason: 'FailedGetResourceMetric' };
    assert.deepEqual(autoscaler({ ...status, conditions: [faulty, limited] }), { ...counters, conditions: [faulty] });
  });

  const widget = (status: object) => reflectStatus(object('example.com/v1', 'Widget', status));

  test('all of a kind that is not known', () => assert.deepEqual(widget({ phase: 'Good' }), { phase: 'Good' }));

  test('of it nothing that says only that a controller has looked again, at any depth', () => {
    const status = {
      lastHeartbeatTime: 'x',
      lastSyncedAt: 'x',
      lastCheckTime: 'x',
      lastReconciliationTime: 'x',
      reconciledAt: 'x',
      heartbeat: 'x',
      parts: [{ name: 'a', lastSeen: 'x', ref: { kind: 'Secret', resourceVersion: '7' } }],
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: 'x', lastTransitionTime: 'kept' }],
    };
    assert.deepEqual(widget(status), {
      parts: [{ name: 'a', ref: { kind: 'Secret' } }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 'kept' }],
    });
  });

  test('of it all that only sounds alike', () => {
    const status = {
      lastScheduleTime: 'x',
      lastSuccessfulTime: 'x',
      lastSyncedRevision: 'main',
      lastSync: { revision: 'main' },
      lastHandledReconcileAt: 'x',
      observedGeneration: 3,
    };
    assert.deepEqual(widget(status), status);
  });

  test('of a large one what says how it goes', () => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { phase: 'Good', observedGeneration: 2, conditions };
    assert.deepEqual(widget({ ...status, report: 'x'.repeat(20_000) }), status);
  });

  test('none', () => {
    assert.equal(reflectStatus(object('v1', 'ConfigMap')), undefined);
    assert.equal(widget({}), undefined);
    assert.equal(widget({ lastHeartbeatTime: 'x' }), undefined);
  });
});
