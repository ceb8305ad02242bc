import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ResourceBinding, Work } from '../../api/index.ts';
import type { UnappliedHere } from '../override/unapplied-overrides.ts';
import { bindingStatus, isPending, memberReport, type Target } from './binding-status.ts';

const NOW = '2026-01-02T03:04:05Z';
const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'demo' } };
const ref = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' };

const work = (observedGeneration: number | undefined, told: object | undefined): Work => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'Work',
  metadata: { name: 'demo.web-deployment', namespace: 'asterism-cluster-ant', generation: 2 },
  spec: { manifests: [manifest] },
  status: {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(told ? { manifestStatuses: [{ ...ref, applied: true, health: 'Healthy', ...told }] } : {}),
  },
});
const rendered = { objects: [manifest], policies: [], unapplied: [] };
const unapplied = (reason: UnappliedHere['reason'], message: string): UnappliedHere[] => [
  { kind: 'OverridePolicy', namespace: 'demo', name: 'o', rule: 1, overrider: 'plaintext[0]', reason, message },
];
const target = (cluster: string, extra: Partial<Target> = {}): Target => ({
  cluster,
  rendered,
  work: work(2, {}),
  upToDate: true,
  refusal: undefined,
  ...extra,
});
const binding = (
  extra: Partial<ResourceBinding['spec']> = {},
  status?: ResourceBinding['status'],
): ResourceBinding => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'ResourceBinding',
  metadata: { name: 'web-deployment', namespace: 'demo', generation: 5 },
  spec: {
    resource: ref,
    clusters: [
      { name: 'ant', replicas: 2 },
      { name: 'bee', replicas: 1 },
    ],
    ...extra,
  },
  ...(status ? { status } : {}),
});

describe('bindingStatus', () => {
  const rows: { name: string; targets: Target[]; applied: string; observed: number | undefined; item?: RegExp }[] = [
    { name: 'all applied', targets: [target('ant'), target('bee')], applied: 'True Applied', observed: 5 },
    {
      name: 'no Work yet',
      targets: [target('ant'), target('bee', { work: undefined, upToDate: false })],
      applied: 'False NotApplied',
      observed: undefined,
      item: /not handed to the cluster yet/,
    },
    {
      name: 'no answer yet',
      targets: [target('ant'), target('bee', { work: work(undefined, undefined) })],
      applied: 'False NotApplied',
      observed: undefined,
      item: /has not applied it yet/,
    },
    {
      name: 'an answer to the change before',
      targets: [target('ant'), target('bee', { work: work(1, {}) })],
      applied: 'False Pending',
      observed: undefined,
    },
    {
      name: 'refused by the member',
      targets: [target('ant'), target('bee', { work: work(2, { applied: false, message: 'no' }) })],
      applied: 'False NotApplied',
      observed: 5,
      item: /^no$/,
    },
    {
      name: 'refused by the hub',
      targets: [target('ant'), target('bee', { refusal: 'too large' })],
      applied: 'False NotApplied',
      observed: 5,
      item: /too large/,
    },
    {
      name: 'an override that cannot be',
      targets: [
        target('ant'),
        target('bee', { rendered: { ...rendered, unapplied: unapplied('Failed', 'nothing there') } }),
      ],
      applied: 'False NotApplied',
      observed: 5,
      item: /^OverridePolicy demo\/o, rule 1, plaintext\[0\]: nothing there$/,
    },
    {
      name: 'an override that does nothing',
      targets: [target('ant'), target('bee', { rendered: { ...rendered, unapplied: unapplied('NoEffect', 'no x') } })],
      applied: 'True Applied',
      observed: 5,
    },
    {
      name: 'refused by the member after an override',
      targets: [
        target('ant'),
        target('bee', {
          rendered: { ...rendered, policies: ['all', 'demo/o'] },
          work: work(2, { applied: false, message: 'no' }),
        }),
      ],
      applied: 'False NotApplied',
      observed: 5,
      item: /^no \(changed for this cluster by override policy all, demo\/o\)$/,
    },
    {
      name: 'held back, whether or not its executor has said so',
      targets: [target('ant'), target('bee', { suspended: true, work: work(1, {}) })],
      applied: 'False SuspendDispatching',
      observed: 5,
      item: /^dispatching is suspended/,
    },
    {
      name: 'held back, and its Work does not say so yet',
      targets: [target('ant'), target('bee', { suspended: true, upToDate: false })],
      applied: 'False Pending',
      observed: undefined,
      item: /^dispatching is suspended/,
    },
    {
      name: 'held back in one cluster, refused in the other',
      targets: [
        target('ant', { suspended: true }),
        target('bee', { work: work(2, { applied: false, message: 'no' }) }),
      ],
      applied: 'False NotApplied',
      observed: 5,
      item: /^no$/,
    },
    {
      name: 'a cluster that is gone',
      targets: [target('ant'), target('bee', { rendered: undefined })],
      applied: 'False NotApplied',
      observed: 5,
      item: /there is no cluster bee/,
    },
  ];
  for (const { name, targets, applied, observed, item } of rows) {
    test(name, () => {
      const status = bindingStatus(binding(), { targets }, NOW);
      const condition = status.conditions?.find(({ type }) => type === 'FullyApplied');
      assert.equal(`${condition?.status} ${condition?.reason}`, applied);
      assert.equal(status.observedGeneration, observed);
      const message = status.aggregatedStatus?.[1]?.appliedMessage;
      if (item) assert.match(message ?? '', item);
      else assert.equal(message, undefined);
    });
  }

  test('a cluster that is chosen no more and keeps what it has is named', () => {
    const { conditions } = bindingStatus(binding(), { targets: [target('ant')], retained: ['bee', 'cat'] }, NOW);
    const { status, reason, message } = conditions?.find(({ type }) => type === 'FullyApplied') ?? {};
    assert.deepEqual([status, reason], ['False', 'SuspendDispatching']);
    assert.equal(message, 'applied in 1 of 1 clusters; not removed from bee, cat: dispatching is suspended there');
  });

  test('a cluster that the binding must not name is only counted', () => {
    const hidden = binding();
    hidden.spec.decisions = [{ cluster: 'bee', selected: false, reason: 'ClusterAffinity', message: 'not named' }];
    hidden.spec.hiddenClusters = { count: 2, message: '2 more clusters are not shown' };
    const { conditions } = bindingStatus(hidden, { targets: [target('ant')], retained: ['bee', 'cat', 'dog'] }, NOW);
    const { message } = conditions?.find(({ type }) => type === 'FullyApplied') ?? {};
    assert.match(
      message ?? '',
      /; not removed from bee, 2 clusters that the policy must not place in: dispatching is suspended there$/,
    );
  });

  test('the same input gives the same status, times and all', () => {
    const targets = [target('ant'), target('bee')];
    const first = bindingStatus(binding(), { targets }, '2026-01-01T00:00:00Z');
    assert.deepEqual(bindingStatus(binding({}, first), { targets }, NOW), first);
    assert.equal(first.placed, 'ant 2, bee 1');
  });

  test('an override that was not applied is told once, with its clusters', () => {
    const nothing = { ...rendered, unapplied: unapplied('NoEffect', 'no x') };
    const both = [target('ant', { rendered: nothing }), target('bee', { rendered: nothing })];
    const other = target('cat', { rendered: { ...rendered, unapplied: unapplied('Failed', 'no y') } });
    const rule = { kind: 'OverridePolicy', namespace: 'demo', name: 'o', rule: 1, overrider: 'plaintext[0]' };
    assert.deepEqual(bindingStatus(binding(), { targets: [...both, other, target('dog')] }, NOW).unappliedOverrides, [
      { ...rule, reason: 'Failed', message: 'no y', clusters: ['cat'] },
      { ...rule, reason: 'NoEffect', message: 'no x', clusters: ['ant', 'bee'] },
    ]);
  });

  test('a placement that cannot be met says why', () => {
    const unschedulable = { reason: 'NoClusterFit', message: 'none of 2 clusters' } as const;
    const { conditions } = bindingStatus(binding({ clusters: [], unschedulable }), { targets: [] }, NOW);
    assert.deepEqual(
      conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      ['Scheduled False NoClusterFit', 'FullyApplied False NotPlaced'],
    );
  });
});

describe('memberReport', () => {
  const rows: { name: string; target: Target; current: boolean }[] = [
    {
      name: 'applied, and its controller has seen it',
      target: target('ant', { work: work(2, { generation: 3, status: { observedGeneration: 3 } }) }),
      current: true,
    },
    {
      name: 'its controller is behind',
      target: target('ant', { work: work(2, { generation: 3, status: { observedGeneration: 2 } }) }),
      current: false,
    },
    { name: 'a kind without generations', target: target('ant'), current: true },
    { name: 'the Work is behind the template', target: target('ant', { upToDate: false }), current: false },
    { name: 'held back', target: target('ant', { suspended: true }), current: false },
    { name: 'not applied', target: target('ant', { work: work(2, { applied: false }) }), current: false },
  ];
  for (const { name, target: subject, current } of rows)
    test(name, () => assert.equal(memberReport(subject).current, current));

  test('what an override holds back is not waited for', () => {
    assert.equal(
      isPending(target('ant', { rendered: { ...rendered, unapplied: unapplied('Failed', 'x') }, upToDate: false })),
      false,
    );
    assert.equal(isPending(target('ant', { upToDate: false })), true);
  });
});
