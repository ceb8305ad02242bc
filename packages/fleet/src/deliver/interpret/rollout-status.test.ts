import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from './aggregate-status.ts';
import type { MemberReport } from './aggregation.ts';
import { healthOf } from './health.ts';
import type { Status } from './status-fields.ts';
import { isMet, rolloutStatus } from './testing/kubectl-reads.ts';

const NOW = '2026-01-02T03:04:05Z';

type Kind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

interface Case {
  name: string;
  kind: Kind;
  /** Of the template. */
  spec?: object;
  /** In each cluster: what its object wants, and its status; undefined where nothing stands there yet. */
  members: { spec?: object; status: Status | undefined; current?: boolean }[];
  expected: 'done' | 'waits' | 'failed';
}

function reportsOf({ kind, members, spec = {} }: Case): MemberReport[] {
  return members.map(({ spec: own = spec, status, current = true }, index): MemberReport => {
    const object = {
      apiVersion: 'apps/v1',
      kind,
      metadata: { generation: 1 },
      spec: own,
      ...(status ? { status } : {}),
    };
    return { cluster: `c${index}`, status, generation: 1, health: healthOf(object as KubeObject), current };
  });
}

/** The template as kubectl sees it: changed for the second time, with the status of its first rollout before. */
function told(row: Case): KubeObject {
  const { kind, spec = {} } = row;
  const metadata = { name: 'x', generation: 2 };
  const template = { apiVersion: 'apps/v1', kind, metadata, spec, status: { observedGeneration: 1 } } as KubeObject;
  return { ...template, status: aggregateStatus({ template, reports: reportsOf(row), now: NOW }) };
}

const counters = (replicas: number, updated = replicas, available = replicas) => ({
  observedGeneration: 1,
  replicas,
  updatedReplicas: updated,
  readyReplicas: available,
  availableReplicas: available,
});
const condition = (type: string, status: string, reason = '') => ({ type, status, reason });
const complete = {
  conditions: [condition('Available', 'True'), condition('Progressing', 'True', 'NewReplicaSetAvailable')],
};
const daemons = (desired: number, updated = desired, available = desired) => ({
  observedGeneration: 1,
  desiredNumberScheduled: desired,
  updatedNumberScheduled: updated,
  numberAvailable: available,
});

const CASES: Case[] = [
  {
    name: 'divided and rolled out',
    kind: 'Deployment',
    spec: { replicas: 3 },
    members: [
      { spec: { replicas: 2 }, status: counters(2) },
      { spec: { replicas: 1 }, status: counters(1) },
    ],
    expected: 'done',
  },
  {
    name: 'one cluster has nothing yet',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: [{ status: counters(2) }, { status: undefined, current: false }],
    expected: 'waits',
  },
  {
    name: 'one cluster has it, and its controller has said nothing yet',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: [{ status: counters(2) }, { status: undefined }],
    expected: 'waits',
  },
  {
    name: 'replicated, and a cluster has begun with nothing: the sums of the others are enough',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: [{ status: counters(2) }, { status: counters(0) }],
    expected: 'waits',
  },
  {
    name: 'replicated, and one cluster has old pods',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: [{ status: counters(2) }, { status: counters(2, 0) }],
    expected: 'waits',
  },
  {
    name: 'replicated, and stuck before its first pod',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: [
      { status: counters(2) },
      { status: { ...counters(0), conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] } },
    ],
    expected: 'failed',
  },
  { name: 'placed nowhere', kind: 'Deployment', spec: { replicas: 2 }, members: [], expected: 'waits' },
  { name: 'scaled to nothing', kind: 'Deployment', spec: { replicas: 0 }, members: [], expected: 'done' },
  {
    name: 'rolled out everywhere',
    kind: 'DaemonSet',
    members: [{ status: daemons(2) }, { status: daemons(3) }],
    expected: 'done',
  },
  {
    name: 'nothing said anywhere',
    kind: 'DaemonSet',
    members: [{ status: undefined }, { status: undefined }],
    expected: 'waits',
  },
  { name: 'placed nowhere', kind: 'DaemonSet', members: [], expected: 'waits' },
  {
    name: 'not updated in one',
    kind: 'DaemonSet',
    members: [{ status: daemons(2) }, { status: daemons(3, 2) }],
    expected: 'waits',
  },
  {
    name: 'rolled out',
    kind: 'StatefulSet',
    spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate' } },
    members: [{ status: { ...counters(3), currentRevision: 'b', updateRevision: 'b' } }],
    expected: 'done',
  },
  {
    name: 'seen, and every pod still of before',
    kind: 'StatefulSet',
    spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate' } },
    members: [{ status: { ...counters(3, 0), currentRevision: 'a', updateRevision: 'b' } }],
    expected: 'waits',
  },
  {
    name: 'replicated, done in one and not begun in the other',
    kind: 'StatefulSet',
    spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } },
    members: [
      { status: { ...counters(3), currentRevision: 'b', updateRevision: 'b' } },
      { status: { ...counters(3, 0), currentRevision: 'a', updateRevision: 'b' } },
    ],
    expected: 'waits',
  },
  {
    name: 'pods still coming up',
    kind: 'StatefulSet',
    spec: { replicas: 3 },
    members: [{ status: { ...counters(3, 3, 2), currentRevision: 'a', updateRevision: 'a' } }],
    expected: 'waits',
  },
];

for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet'] as const) {
  describe(`kubectl rollout status of a ${kind} that is placed`, () => {
    for (const row of CASES.filter((each) => each.kind === kind))
      test(row.name, () => assert.equal(rolloutStatus(told(row)), row.expected));
  });
}

describe('kubectl wait --for=condition=Available of a Deployment', () => {
  const row = (...statuses: Status[]): Case => ({
    name: '',
    kind: 'Deployment',
    spec: { replicas: 2 },
    members: statuses.map((status) => ({ status })),
    expected: 'done',
  });

  test('ends when it is in all clusters', () =>
    assert.ok(isMet('Available', told(row({ ...counters(2), ...complete }, { ...counters(2), ...complete })))));
  test('goes on while it is not in one', () =>
    assert.ok(!isMet('Available', told(row({ ...counters(2), ...complete }, counters(2, 2, 0))))));
});

describe('kubectl wait of a Job', () => {
  const job = (...statuses: Status[]): KubeObject => {
    const template: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x', generation: 1 } };
    const reports = statuses.map((status, index) => ({ cluster: `c${index}`, status, current: true }));
    return { ...template, status: aggregateStatus({ template, reports, now: NOW }) };
  };
  const done = { startTime: NOW, completionTime: NOW, conditions: [condition('Complete', 'True')] };
  const failed = { startTime: NOW, conditions: [condition('Failed', 'True')] };
  const runs = { startTime: NOW, active: 1 };

  test('Complete when all are', () => {
    assert.ok(isMet('Complete', job(done, done)));
    assert.ok(!isMet('Complete', job(done, runs)));
  });
  test('Failed when one is', () => {
    assert.ok(isMet('Failed', job(runs, failed)));
    assert.ok(!isMet('Failed', job(runs, done)));
  });
});
