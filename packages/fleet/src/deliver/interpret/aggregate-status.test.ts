import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { MemberReport } from './aggregation.ts';
import { aggregate, BEFORE, NOW, report, template } from './testing/reports.ts';

describe('other kinds of Kubernetes', () => {
  const ingress = (...entries: object[]) => ({ loadBalancer: { ingress: entries } });
  const rows: { name: string; object: KubeObject; reports: MemberReport[]; expected: unknown }[] = [
    {
      name: 'StatefulSet',
      object: template('apps/v1', 'StatefulSet'),
      reports: [
        report('a', { observedGeneration: 1, replicas: 1, readyReplicas: 1 }),
        report('b', { observedGeneration: 1, replicas: 2 }),
      ],
      expected: { observedGeneration: 4, replicas: 3, readyReplicas: 1, availableReplicas: 0 },
    },
    {
      name: 'a StatefulSet whose controller has said nothing anywhere yet',
      object: template('apps/v1', 'StatefulSet', { status: { observedGeneration: 3, replicas: 1 } }),
      reports: [report('a', { observedGeneration: 1, replicas: 1 }), report('b', undefined)],
      expected: { observedGeneration: 3, replicas: 1, availableReplicas: 0 },
    },
    {
      name: 'the revisions of the cluster that still replaces pods',
      object: template('apps/v1', 'StatefulSet'),
      reports: [
        report('a', { observedGeneration: 1, currentRevision: 'web-2', updateRevision: 'web-2' }),
        report('b', { observedGeneration: 1, currentRevision: 'web-1', updateRevision: 'web-2' }),
      ],
      expected: {
        observedGeneration: 4,
        replicas: 0,
        availableReplicas: 0,
        currentRevision: 'web-1',
        updateRevision: 'web-2',
      },
    },
    {
      name: 'ReplicaSet',
      object: template('apps/v1', 'ReplicaSet'),
      reports: [report('a', { replicas: 1 }, false)],
      expected: { replicas: 1 },
    },
    {
      name: 'DaemonSet',
      object: template('apps/v1', 'DaemonSet'),
      reports: [report('a', { observedGeneration: 1, desiredNumberScheduled: 3, numberReady: 2, numberAvailable: 2 })],
      expected: {
        observedGeneration: 4,
        desiredNumberScheduled: 3,
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
        numberReady: 2,
        numberAvailable: 2,
      },
    },
    {
      name: 'CronJob',
      object: template('batch/v1', 'CronJob'),
      reports: [
        report('a', { active: [{ name: 'j1' }], lastScheduleTime: BEFORE }),
        report('b', { lastScheduleTime: NOW }),
      ],
      expected: { active: [{ name: 'j1' }], lastScheduleTime: NOW },
    },
    {
      name: 'a Service without a load balancer',
      object: template('v1', 'Service', { spec: { type: 'ClusterIP' } }),
      reports: [report('a', ingress({ ip: '1.1.1.1' }))],
      expected: undefined,
    },
    {
      name: 'addresses once, sorted',
      object: template('v1', 'Service', { spec: { type: 'LoadBalancer' } }),
      reports: [report('a', ingress({ ip: '2.2.2.2' })), report('b', ingress({ ip: '1.1.1.1' }, { ip: '2.2.2.2' }))],
      expected: ingress({ ip: '1.1.1.1' }, { ip: '2.2.2.2' }),
    },
    {
      name: 'Ingress',
      object: template('networking.k8s.io/v1', 'Ingress'),
      reports: [report('a', ingress({ hostname: 'a' }))],
      expected: ingress({ hostname: 'a' }),
    },
    {
      name: 'a claim that is lost somewhere',
      object: template('v1', 'PersistentVolumeClaim'),
      reports: [report('a', { phase: 'Lost' }), report('b', { phase: 'Pending' })],
      expected: { phase: 'Lost' },
    },
    {
      name: 'a claim that is not bound everywhere',
      object: template('v1', 'PersistentVolumeClaim'),
      reports: [
        report('a', { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] }),
        report('b', undefined),
      ],
      expected: { phase: 'Pending', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    },
    {
      name: 'the worst volume',
      object: template('v1', 'PersistentVolume'),
      reports: [report('a', { phase: 'Bound' }), report('b', { phase: 'Failed' })],
      expected: { phase: 'Failed' },
    },
    {
      name: 'the worst pod',
      object: template('v1', 'Pod'),
      reports: [
        report('a', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
        report('b', undefined),
      ],
      expected: {
        phase: 'Pending',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'NotReadyEverywhere',
            message: 'not ready in b',
            lastTransitionTime: NOW,
          },
        ],
      },
    },
    {
      name: 'PodDisruptionBudget',
      object: template('policy/v1', 'PodDisruptionBudget'),
      reports: [
        report('a', { observedGeneration: 1, currentHealthy: 2, disruptedPods: { p: NOW } }),
        report('b', { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1 }),
      ],
      expected: {
        observedGeneration: 4,
        currentHealthy: 3,
        desiredHealthy: 1,
        disruptionsAllowed: 0,
        expectedPods: 0,
        disruptedPods: { 'a/p': NOW },
      },
    },
    {
      name: 'HorizontalPodAutoscaler',
      object: template('autoscaling/v2', 'HorizontalPodAutoscaler'),
      reports: [report('a', { currentReplicas: 2, desiredReplicas: 3 })],
      expected: { currentReplicas: 2, desiredReplicas: 3 },
    },
    {
      name: 'a Namespace, whose phase the API server of the templates says',
      object: template('v1', 'Namespace'),
      reports: [report('a', { phase: 'Terminating' })],
      expected: undefined,
    },
    {
      name: 'a definition, which that server establishes itself',
      object: template('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
      reports: [report('a', { conditions: [{ type: 'Established', status: 'False' }] })],
      expected: undefined,
    },
    {
      name: 'a ConfigMap',
      object: template('v1', 'ConfigMap'),
      reports: [report('a', undefined)],
      expected: undefined,
    },
  ];
  for (const { name, object, reports, expected } of rows)
    test(name, () => assert.deepEqual(aggregate(object, ...reports), expected));
});
