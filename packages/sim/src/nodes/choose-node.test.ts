import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Pod } from '@asterism/machinery';
import { chooseNode } from './choose-node.ts';
import { NOTHING } from './pod-requests.ts';

function node(
  name: string,
  extra: { cpu?: string; labels?: Record<string, string>; spec?: Node['spec']; ready?: boolean } = {},
): Node {
  const allocatable = { cpu: extra.cpu ?? '4', memory: '8Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: extra.labels ?? {} },
    spec: extra.spec ?? {},
    status: { allocatable, conditions: [{ type: 'Ready', status: extra.ready === false ? 'False' : 'True' }] },
  };
}

function pod(requests: Record<string, string>, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', resources: { requests } }], ...spec },
  };
}

const empty = () => NOTHING;
const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' as const };

const cases: [name: string, pod: Pod, nodes: Node[], expected: string | RegExp][] = [
  ['the one with room', pod({ cpu: '3' }), [node('small', { cpu: '2' }), node('large')], 'large'],
  ['by name among equals', pod({}), [node('b'), node('a')], 'a'],
  ['not one that is not ready', pod({}), [node('a', { ready: false }), node('b')], 'b'],
  ['not one that is cordoned', pod({}), [node('a', { spec: { unschedulable: true } }), node('b')], 'b'],
  [
    'the one with the labels',
    pod({}, { nodeSelector: { disk: 'ssd' } }),
    [node('a'), node('b', { labels: { disk: 'ssd' } })],
    'b',
  ],
  ['not a tainted one', pod({}), [node('a', { spec: { taints: [taint] } }), node('b')], 'b'],
  [
    'a tainted one that it tolerates',
    pod({}, { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }),
    [node('a', { spec: { taints: [taint] } })],
    'a',
  ],
  [
    'none, and it says why',
    pod({ cpu: '9' }),
    [node('a'), node('b', { ready: false })],
    /^0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) were not ready\.$/,
  ],
  ['none where there are none', pod({}), [], /0\/0 nodes/],
];

for (const [name, wanted, nodes, expected] of cases) {
  test(`a pod gets ${name}`, () => {
    const choice = chooseNode(wanted, { nodes, used: empty });
    if (typeof expected === 'string') assert.equal(choice.node, expected);
    else assert.match(choice.node === undefined ? choice.message : '', expected);
  });
}

test('the emptier node is taken', () => {
  const used = (name: string) => (name === 'a' ? { milliCpu: 1000, memory: 0, pods: 1 } : NOTHING);
  assert.equal(chooseNode(pod({ cpu: '1' }), { nodes: [node('a'), node('b')], used }).node, 'b');
});
