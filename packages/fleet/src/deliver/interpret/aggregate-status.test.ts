import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from './aggregate-status.ts';
import type { MemberReport } from './aggregation.ts';

const NOW = '2026-01-02T03:04:05Z';
const BEFORE = '2026-01-01T00:00:00Z';

const report = (
  cluster: string,
  status: Record<string, unknown> | undefined,
  current = true,
  health: MemberReport['health'] = 'Healthy',
): MemberReport => ({ cluster, status, current, health, generation: 1 });
const template = (apiVersion: string, kind: string, rest: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', generation: 4 },
  ...rest,
});
const aggregate = (object: KubeObject, ...reports: MemberReport[]) =>
  aggregateStatus({ template: object, reports, now: NOW });

const listOf = (status: Readonly<Record<string, unknown>> | undefined) =>
  (status?.['conditions'] ?? []) as Record<string, string>[];

const running = (replicas: number, extra: object = {}) => ({
  observedGeneration: 1,
  replicas,
  readyReplicas: replicas,
  updatedReplicas: replicas,
  availableReplicas: replicas,
  conditions: [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '' },
  ],
  ...extra,
});

describe('Deployment', () => {
  const deployment = template('apps/v1', 'Deployment', { spec: { replicas: 9 } });

  test('sums, and is done when all are', () => {
    assert.deepEqual(aggregate(deployment, report('ant', running(6)), report('bee', running(3))), {
      observedGeneration: 4,
      replicas: 9,
      updatedReplicas: 9,
      readyReplicas: 9,
      availableReplicas: 9,
      conditions: [
        {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability in all 2 clusters it is placed in.',
          lastTransitionTime: NOW,
          lastUpdateTime: NOW,
        },
        {
          type: 'Progressing',
          status: 'True',
          reason: 'NewReplicaSetAvailable',
          message: 'The rollout is complete in all 2 clusters it is placed in.',
          lastTransitionTime: NOW,
          lastUpdateTime: NOW,
        },
      ],
    });
  });

  const conditions = (object: KubeObject, ...reports: MemberReport[]) =>
    listOf(aggregate(object, ...reports)).map(
      ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
    );

  test('a cluster that says nothing is behind', () => {
    assert.deepEqual(conditions(deployment, report('ant', running(6)), report('bee', undefined, false)), [
      'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability in bee.',
      'Progressing=True ReplicaSetUpdated: The rollout is under way in bee.',
    ]);
  });

  test('a rollout that got stuck in one is stuck, and kubectl sees the reason it looks for', () => {
    const stuck = running(2, {
      conditions: [
        {
          type: 'Progressing',
          status: 'False',
          reason: 'ProgressDeadlineExceeded',
          message: 'has timed out progressing.',
        },
      ],
    });
    assert.equal(
      conditions(deployment, report('ant', stuck), report('bee', running(3)))[1],
      'Progressing=False ProgressDeadlineExceeded: ant: has timed out progressing.',
    );
  });

  test('observedGeneration waits for the last cluster', () => {
    const seen = { ...deployment, status: { observedGeneration: 3 } };
    const behind = aggregate(seen, report('ant', running(6)), report('bee', running(3), false));
    assert.equal(behind?.['observedGeneration'], 3);
    assert.equal(aggregate(seen, report('ant', running(6)), report('bee', running(3)))?.['observedGeneration'], 4);
  });

  test('what did not change keeps its times, so the same reports give the same status', () => {
    const first = aggregateStatus({ template: deployment, reports: [report('ant', running(9))], now: BEFORE });
    const again = aggregate({ ...deployment, status: first }, report('ant', running(9)));
    assert.deepEqual(again, first);
    const worse = aggregate({ ...deployment, status: first }, report('ant', undefined));
    const [available] = listOf(worse);
    assert.equal(available?.['lastTransitionTime'], NOW);
  });

  test('placed nowhere, nothing is missing where nothing is wanted', () => {
    const unwanted = { ...deployment, spec: { replicas: 0 } };
    const status = aggregate(unwanted);
    assert.equal(status?.['observedGeneration'], 4);
    assert.equal(status?.['replicas'], undefined);
    assert.deepEqual(conditions(unwanted), [
      'Available=True MinimumReplicasAvailable: Deployment has minimum availability: no replicas are wanted.',
      'Progressing=True NewReplicaSetAvailable: The rollout is complete: no replicas are wanted.',
    ]);
  });

  test('placed nowhere with replicas wanted, it is not available, whatever it was before', () => {
    const told = aggregate(deployment, report('ant', running(9)));
    for (const before of [deployment, { ...deployment, status: told }, template('apps/v1', 'Deployment')]) {
      const object = { ...before, metadata: { name: 'web', namespace: 'shop', generation: 4 } };
      assert.deepEqual(conditions(object), [
        'Available=False NotPlaced: Deployment is placed nowhere: `aster why deployment/web -n shop` tells why.',
        'Progressing=False NotPlaced: Deployment is placed nowhere: `aster why deployment/web -n shop` tells why.',
      ]);
      const { observedGeneration, replicas, availableReplicas } = aggregate(object) ?? {};
      assert.deepEqual([observedGeneration, replicas, availableReplicas], [undefined, undefined, undefined]);
    }
  });

  test('pods that cannot be made in one cluster are told', () => {
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' };
    assert.equal(
      conditions(deployment, report('ant', running(6)), report('bee', running(0, { conditions: [failure] })))[2],
      'ReplicaFailure=True FailedCreate: bee: exceeded quota',
    );
  });
});

describe('Job', () => {
  const job = template('batch/v1', 'Job');
  const done = (completionTime: string) => ({
    succeeded: 2,
    startTime: BEFORE,
    completionTime,
    conditions: [{ type: 'Complete', status: 'True' }],
  });

  test('complete only when all are; earliest start, latest end', () => {
    const half = aggregate(
      job,
      report('ant', done('2026-01-01T01:00:00Z')),
      report('bee', { active: 1, startTime: NOW }),
    );
    assert.deepEqual(half, { active: 1, succeeded: 2, startTime: BEFORE });
    const all = aggregate(
      job,
      report('ant', done('2026-01-01T01:00:00Z')),
      report('bee', done('2026-01-01T02:00:00Z')),
    );
    assert.equal(all?.['completionTime'], '2026-01-01T02:00:00Z');
    const types = listOf(all).map(({ type }) => type);
    assert.deepEqual(types, ['SuccessCriteriaMet', 'Complete']);
  });

  test('failed when one is, and it is named; then it has a start and nothing that runs', () => {
    const failed = { failed: 1, conditions: [{ type: 'Failed', status: 'True' }] };
    const status = aggregate(job, report('ant', { active: 2, ready: 1, startTime: BEFORE }), report('bee', failed));
    const [target, condition] = listOf(status);
    assert.deepEqual(
      [target?.type, condition?.type, condition?.message],
      ['FailureTarget', 'Failed', 'Job failed in bee.'],
    );
    assert.deepEqual(
      [status?.['active'], status?.['ready'], status?.['failed'], status?.['startTime']],
      [undefined, undefined, 1, BEFORE],
    );
  });

  test('a start stays, and what succeeded is not less when its cluster is left', () => {
    const started = { ...job, status: { startTime: BEFORE, succeeded: 3, failed: 1 } };
    const status = aggregate(started, report('ant', { active: 1, succeeded: 1 }));
    assert.deepEqual(status, { active: 1, succeeded: 3, failed: 1, startTime: BEFORE });
  });

  test('a start is known when every cluster has one', () => {
    assert.deepEqual(aggregate(job, report('ant', { startTime: BEFORE }), report('bee', { active: 1 })), { active: 1 });
  });

  test('of one that no cluster has any more nothing is active, and it is not complete', () => {
    const begun = { ...job, status: { active: 2, ready: 2, succeeded: 3, startTime: BEFORE } };
    assert.deepEqual(aggregate(begun), { succeeded: 3, startTime: BEFORE });
  });

  test('once finished it is never changed', () => {
    const finished = { ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } };
    assert.equal(aggregate(finished, report('ant', { active: 1 })), undefined);
    assert.equal(aggregate(finished), undefined);
  });
});

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
