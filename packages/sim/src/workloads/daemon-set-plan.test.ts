import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DaemonSet, Node, Pod } from '@asterism/machinery';
import { daemonOn, daemonTolerations, planDaemonSet } from './daemon-set-plan.ts';

type Strategy = NonNullable<DaemonSet['spec']>['updateStrategy'];

const set = (updateStrategy: Strategy = {}, pod: object = {}): DaemonSet => ({
  metadata: { name: 'logs', uid: 'u-1' },
  spec: { selector: {}, updateStrategy, template: { spec: { containers: [], ...pod } } },
});

const node = (name: string, spec: Node['spec'] = {}, labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec,
});

/** `a ready old`: a node, how the pod is, and of which template. */
function pod(text: string): Pod {
  const [where = '', is, hash = 'new'] = text.split(' ');
  return {
    metadata: {
      name: `logs-${where}-${hash}`,
      labels: { 'controller-revision-hash': hash },
      ...(is === 'leaving' ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    spec: { nodeName: where, containers: [] },
    status: {
      phase: is === 'failed' ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: is === 'ready' ? 'True' : 'False' }],
    },
  };
}

const surge: Strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
const two: Strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };

const ROWS: [name: string, strategy: Strategy, pods: string[], create: string[], remove: string[]][] = [
  ['a pod on each node', {}, ['a ready'], ['b', 'c'], []],
  ['one that has ended goes, and is made again when it is gone', {}, ['a failed', 'b ready', 'c ready'], [], ['a new']],
  ['one on its way out is waited for', {}, ['a leaving', 'b ready', 'c ready'], [], []],
  ['one whose node is gone goes', {}, ['a ready', 'b ready', 'c ready', 'z ready'], [], ['z new']],
  ['an update takes one', {}, ['a ready old', 'b ready old', 'c ready old'], [], ['a old']],
  ['and no other while one is missing', {}, ['a unready', 'b ready old', 'c ready old'], [], []],
  ['or as many as it may', two, ['a ready old', 'b ready old', 'c ready old'], [], ['a old', 'b old']],
  ['old ones that serve nobody go first', {}, ['a ready old', 'b unready old', 'c ready old'], [], ['b old']],
  ['OnDelete leaves them alone', { type: 'OnDelete' }, ['a ready old', 'b ready old', 'c ready old'], [], []],
  ['a surge makes the new beside the old', surge, ['a ready old', 'b ready old', 'c ready old'], ['a'], []],
  ['and waits for it', surge, ['a ready old', 'a unready', 'b ready old', 'c ready old'], [], []],
  ['and then takes the old', surge, ['a ready old', 'a ready', 'b ready old', 'c ready old'], ['b'], ['a old']],
];

describe('the next step of a DaemonSet', () => {
  const nodes = ['a', 'b', 'c'].map((name) => node(name));
  for (const [name, strategy, pods, create, remove] of ROWS) {
    test(name, () => {
      const plan = planDaemonSet(set(strategy), nodes, pods.map(pod), 'new', Date.UTC(2030, 0));
      assert.deepEqual(
        plan.create.map((each) => each.node),
        create,
      );
      assert.deepEqual(
        plan.remove.map((each) => `${each.spec?.nodeName} ${each.metadata?.labels?.['controller-revision-hash']}`),
        remove,
      );
    });
  }

  test('names follow from the node', () => {
    const made = () => planDaemonSet(set(), nodes, [], 'new', 0).create;
    assert.deepEqual(made(), made());
    assert.equal(new Set(made().map(({ name }) => name)).size, 3);
  });
});

describe('the nodes of a DaemonSet', () => {
  const affinity = (key: string, value: string) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
        },
      },
    },
  });
  const rows: [name: string, pod: object, node: Node, starts: boolean, stays: boolean][] = [
    ['any', {}, node('a'), true, true],
    ['not without the label', { nodeSelector: { disk: 'ssd' } }, node('a'), false, false],
    ['with the label', { nodeSelector: { disk: 'ssd' } }, node('a', {}, { disk: 'ssd' }), true, true],
    ['not without what affinity requires', affinity('zone', 'x'), node('a', {}, { zone: 'y' }), false, false],
    ['with what affinity requires', affinity('zone', 'x'), node('a', {}, { zone: 'x' }), true, true],
    ['not a new one where it is tainted', {}, node('a', { taints: [{ key: 'k', effect: 'NoSchedule' }] }), false, true],
    ['none where it may not stay', {}, node('a', { taints: [{ key: 'k', effect: 'NoExecute' }] }), false, false],
    [
      'where the taint is tolerated',
      { tolerations: [{ operator: 'Exists' }] },
      node('a', { taints: [{ key: 'k', effect: 'NoExecute' }] }),
      true,
      true,
    ],
    [
      'where the node is unreachable or cordoned',
      {},
      node('a', {
        taints: [
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
          { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        ],
      }),
      true,
      true,
    ],
  ];
  for (const [name, spec, each, starts, stays] of rows) {
    test(name, () => assert.deepEqual(daemonOn(set({}, spec), each), { starts, stays }));
  }

  test('the automatic tolerations are added once', () => {
    const own = daemonTolerations({ containers: [] });
    assert.equal(own.length, 6);
    assert.deepEqual(daemonTolerations({ containers: [], tolerations: own }), own);
    assert.equal(daemonTolerations({ containers: [], hostNetwork: true }).length, 7);
  });
});
