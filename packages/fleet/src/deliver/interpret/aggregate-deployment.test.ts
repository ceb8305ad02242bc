import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from './aggregate-status.ts';
import type { MemberReport } from './aggregation.ts';
import { aggregate, BEFORE, listOf, NOW, report, template } from './testing/reports.ts';

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
