import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeStatus } from './judge-status.ts';
import { objectsOf } from './status-fields.ts';

const START = '2026-01-02T03:04:05Z';
const BEFORE = '2026-01-02T03:04:04Z';

describe('a status that a cluster may report is taken', () => {
  const rows: [name: string, kind: string, status: object][] = [
    ['a Deployment that rolls out', 'Deployment.apps', { observedGeneration: 2, replicas: 3, readyReplicas: 2 }],
    ['a Deployment of nothing', 'Deployment.apps', {}],
    ['a Job', 'Job.batch', { active: 2, ready: 1, succeeded: 4, startTime: BEFORE }],
    ['a Job that is done', 'Job.batch', { succeeded: 4, startTime: BEFORE, completionTime: START }],
    ['addresses', 'Service', { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'a-1.example' }] } }],
    [
      'a claim',
      'PersistentVolumeClaim',
      { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
    ],
    ['an unknown kind', 'Widget.example.com', { anything: { goes: [1, 2, { a: null }] }, phase: 'At work, slowly' }],
  ];
  for (const [name, kind, status] of rows) test(name, () => assert.deepEqual(judgeStatus(kind, status), { status }));
});

describe('a status that cannot be true is not taken', () => {
  const rows: [kind: string, status: object, fault: string][] = [
    ['Deployment.apps', { readyReplicas: 5 }, 'readyReplicas 5 is more than replicas 0'],
    ['Deployment.apps', { replicas: 3, updatedReplicas: 4 }, 'updatedReplicas 4 is more than replicas 3'],
    [
      'Deployment.apps',
      { replicas: 3, readyReplicas: 1, availableReplicas: 2 },
      'availableReplicas 2 is more than readyReplicas 1',
    ],
    ['Deployment.apps', { replicas: -1 }, 'replicas -1 is not a count'],
    ['Deployment.apps', { replicas: 1.5 }, 'replicas 1.5 is not a count'],
    ['Deployment.apps', { replicas: 2 ** 31 }, 'replicas 2147483648 is not a count'],
    ['Deployment.apps', { replicas: '3' }, 'replicas "3" is not a count'],
    ['StatefulSet.apps', { currentReplicas: 1 }, 'currentReplicas 1 is more than replicas 0'],
    ['ReplicaSet.apps', { fullyLabeledReplicas: 1 }, 'fullyLabeledReplicas 1 is more than replicas 0'],
    ['DaemonSet.apps', { numberReady: -3 }, 'numberReady -3 is not a count'],
    ['Job.batch', { ready: 2, active: 1 }, 'ready 2 is more than active 1'],
    ['Job.batch', { startTime: 'soon' }, 'startTime "soon" is not a time'],
    ['Job.batch', { startTime: START, completionTime: BEFORE }, 'completionTime is before startTime'],
    ['CronJob.batch', { active: ['a'] }, 'active has an item that is not an object'],
    ['CronJob.batch', { lastScheduleTime: 5 }, 'lastScheduleTime 5 is not a time'],
    ['PodDisruptionBudget.policy', { expectedPods: null, currentHealthy: {} }, 'currentHealthy {} is not a count'],
    ['PodDisruptionBudget.policy', { disruptedPods: { a: 'x' } }, 'disruptedPods has a time that is none'],
    ['Service', { loadBalancer: { ingress: [{ ip: 'x' }] } }, '"x" is not an IP address'],
    ['Ingress.networking.k8s.io', { loadBalancer: { ingress: [{ hostname: 'A b' }] } }, '"A b" is not a host name'],
    ['PersistentVolumeClaim', { capacity: { storage: 'much' } }, 'capacity has a value that is not a quantity'],
    ['PersistentVolumeClaim', { accessModes: 'all' }, 'accessModes are not access modes'],
    ['Pod', { phase: { x: 1 } }, 'phase {"x":1} is not a phase'],
    ['Widget.example.com', { observedGeneration: -1 }, 'observedGeneration -1 is not a generation'],
    [
      'Widget.example.com',
      { observedGeneration: 'x'.repeat(99) },
      `observedGeneration "${'x'.repeat(38)}… is not a generation`,
    ],
    ['Widget.example.com', { a: JSON.parse('['.repeat(70) + ']'.repeat(70)) }, 'it is nested more than 64 levels deep'],
  ];
  for (const [kind, status, fault] of rows)
    test(`${kind}: ${fault}`, () => assert.deepEqual(judgeStatus(kind, status), { status: undefined, fault }));
});

describe('a status is cut to what the hub keeps', () => {
  test('fields that the hub does not use of a known kind', () => {
    const { status } = judgeStatus('Deployment.apps', { replicas: 1, spam: 'x'.repeat(3_000_000) });
    assert.deepEqual(status, { replicas: 1 });
  });

  test('a large status of an unknown kind keeps generation, phase and conditions', () => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    const large = { observedGeneration: 3, phase: 'x', conditions, spam: 'x'.repeat(9_000) };
    assert.deepEqual(judgeStatus('Widget.example.com', large), {
      status: { observedGeneration: 3, phase: 'x', conditions },
      fault: 'it is larger than 8192 characters',
    });
  });

  test('a status whose conditions alone are too large is not taken', () => {
    const conditions = Array.from({ length: 60 }, (_, index) => ({
      type: `T${index}`,
      status: 'True',
      message: 'x'.repeat(900),
    }));
    assert.deepEqual(judgeStatus('Widget.example.com', { conditions }), {
      status: undefined,
      fault: 'it is larger than 8192 characters, and so are its conditions',
    });
  });

  test('conditions that are none, and too many of them', () => {
    const sound = { type: 'Ready', status: 'True', message: 'm' };
    const odd = [null, 5, {}, { type: 'x y', status: 'True' }, { type: 'A' }, { ...sound, message: 'x'.repeat(5_000) }];
    const { status } = judgeStatus('Widget.example.com', { conditions: [sound, ...odd] });
    assert.deepEqual(status, { conditions: [sound, { ...sound, message: `${'x'.repeat(1_023)}…` }] });
    const many = Array.from({ length: 100_000 }, (_, index) => ({ type: `T${index}`, status: 'True' }));
    const { status: cut } = judgeStatus('Widget.example.com', { conditions: many });
    assert.equal(objectsOf(cut, 'conditions').length, 64);
    assert.deepEqual(judgeStatus('Widget.example.com', { conditions: 'Ready' }).status, { conditions: [] });
  });

  test('no status', () => {
    for (const status of [undefined, null, 'x', 5, []])
      assert.deepEqual(judgeStatus('Deployment.apps', status), { status: undefined });
  });
});
