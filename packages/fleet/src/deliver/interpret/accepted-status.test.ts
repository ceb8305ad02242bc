import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import type { KubeObject } from '@asterism/machinery';
import { patchStatus } from '../report/patch-status.ts';
import { aggregateStatus } from './aggregate-status.ts';
import type { MemberReport } from './aggregation.ts';
import type { Status } from './status-fields.ts';

const START = '2026-01-02T03:04:05Z';
const LATER = '2026-01-02T03:05:05Z';
const END = '2026-01-02T03:06:05Z';

const pod = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Always' },
};
const jobPod = { spec: { ...pod.spec, restartPolicy: 'Never' } };
const selector = { matchLabels: { app: 'x' } };
const condition = (type: string, status = 'True') => ({ type, status, lastTransitionTime: START });
const rolled = (replicas: number) => ({
  observedGeneration: 1,
  replicas,
  readyReplicas: replicas,
  updatedReplicas: replicas,
  availableReplicas: replicas,
});
const running = { active: 1, ready: 1, startTime: START };
const complete = { succeeded: 1, startTime: START, completionTime: END, conditions: [condition('Complete')] };
const failed = { failed: 2, startTime: LATER, conditions: [condition('Failed')] };
const ingress = (...entries: object[]) => ({ loadBalancer: { ingress: entries } });
const claimed = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };

interface Case {
  name: string;
  apiVersion: string;
  kind: string;
  spec: object;
  /** What the clusters say, one after the other. */
  steps: readonly (readonly (Status | undefined)[])[];
}

const CASES: readonly Case[] = [
  {
    name: 'rolls out, and fails to make pods',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: { replicas: 3, selector, template: pod },
    steps: [
      [undefined, undefined],
      [rolled(2), { ...rolled(0), conditions: [condition('ReplicaFailure')] }],
      [rolled(2), rolled(1)],
    ],
  },
  {
    name: 'replaces pods',
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    spec: { serviceName: 'x', replicas: 3, selector, template: pod },
    steps: [[undefined], [{ ...rolled(2), currentRevision: 'a', updateRevision: 'b' }, rolled(1)]],
  },
  {
    name: 'scales',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    spec: { replicas: 3, selector, template: pod },
    steps: [[undefined], [rolled(2), { ...rolled(1), fullyLabeledReplicas: 1 }]],
  },
  {
    name: 'rolls out',
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    spec: { selector, template: pod },
    steps: [[undefined], [{ observedGeneration: 1, desiredNumberScheduled: 2, numberReady: 1, numberUnavailable: 1 }]],
  },
  {
    name: 'completes',
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { completions: 2, parallelism: 2, template: jobPod },
    steps: [
      [undefined, undefined],
      [running, undefined],
      [running, { ...running, startTime: LATER }],
      [complete, complete],
    ],
  },
  {
    name: 'fails in one cluster while it runs in another',
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { completions: 2, parallelism: 2, template: jobPod },
    steps: [
      [running, undefined],
      [running, failed],
    ],
  },
  {
    name: 'fails before anything else was told',
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { template: jobPod },
    steps: [[undefined, { failed: 1, conditions: [condition('Failed')] }]],
  },
  {
    name: 'leaves a cluster in which it had got somewhere, for one where it starts later',
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { completions: 3, template: jobPod },
    steps: [
      [
        { ...running, succeeded: 1 },
        { ...running, failed: 1 },
      ],
      [{ ...running, startTime: LATER }, undefined],
      [{ ...running, startTime: LATER }],
    ],
  },
  {
    name: 'has run',
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobPod } } },
    steps: [
      [{ active: [{ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'a' }], lastScheduleTime: START }],
    ],
  },
  {
    name: 'gets addresses',
    apiVersion: 'v1',
    kind: 'Service',
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
    steps: [[undefined], [ingress({ ip: '1.1.1.1', ipMode: 'VIP' }), ingress({ hostname: 'a.b' })]],
  },
  {
    name: 'gets an address',
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } },
    steps: [[undefined], [ingress({ hostname: 'a.b' })]],
  },
  {
    name: 'is bound',
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    steps: [[undefined], [claimed, { phase: 'Pending' }], [claimed, claimed]],
  },
  {
    name: 'runs',
    apiVersion: 'v1',
    kind: 'Pod',
    spec: pod.spec,
    steps: [[undefined], [{ phase: 'Running', conditions: [condition('Ready')] }], [{ phase: 'Succeeded' }]],
  },
  {
    name: 'is kept',
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    spec: { minAvailable: 1, selector },
    steps: [[undefined], [{ observedGeneration: 1, currentHealthy: 1, disruptedPods: { p: START } }]],
  },
  {
    name: 'scales',
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' } },
    steps: [[undefined], [{ currentReplicas: 1, desiredReplicas: 2 }]],
  },
];

describe('the API server of the templates takes the status of', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  for (const [index, { name, apiVersion, kind, spec, steps }] of CASES.entries()) {
    test(`a ${kind} that ${name}, and then is placed nowhere`, async () => {
      const template = { apiVersion, kind, metadata: { namespace: 'default', name: `x${index}` }, spec };
      const type = await server.client.discovery.typeFor(template);
      const objects = server.client.resource(type);
      await objects.create(template);
      for (const statuses of [...steps, []]) {
        const before: KubeObject = await objects.get(template.metadata);
        const reports = statuses.map((status, cluster): MemberReport => {
          return { cluster: `c${cluster}`, status, current: status !== undefined, generation: 1, health: 'Healthy' };
        });
        const status = aggregateStatus({ template: before, reports, now: END, wasPlaced: true });
        if (status === undefined) continue;
        const written = await patchStatus(server.client, type, before, status, { signal: AbortSignal.timeout(10_000) });
        assert.equal(written?.metadata?.uid, before.metadata?.uid);
      }
    });
  }
});
