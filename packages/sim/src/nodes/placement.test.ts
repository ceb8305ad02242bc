import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Affinity, Node, Pod, PodSpec, Toleration } from '@asterism/machinery';
import { chooseNode } from './choose-node.ts';
import { chooseVictims } from './choose-victims.ts';
import { evictionTime } from './eviction-time.ts';
import { add, NOTHING, podRequests } from './pod-requests.ts';
import { PodTopology } from './pod-topology.ts';

const node = (name: string, zone: string, taints: NonNullable<Node['spec']>['taints'] = []): Node => ({
  metadata: { name, labels: { zone, 'kubernetes.io/hostname': name } },
  spec: { taints },
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' }, conditions: [{ type: 'Ready', status: 'True' }] },
});
const pod = (name: string, app: string, spec: Partial<PodSpec> = {}, cpu = '0'): Pod => ({
  metadata: { name, namespace: 'demo', uid: name, labels: { app } },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }], ...spec },
});
const term = (app: string, topologyKey = 'kubernetes.io/hostname') => ({
  labelSelector: { matchLabels: { app } },
  topologyKey,
});
const affinity = (value: Affinity): Partial<PodSpec> => ({ affinity: value });
const NODES = [node('a', 'east'), node('b', 'east'), node('c', 'west')];

function place(wanted: Pod, bound: Readonly<Record<string, readonly Pod[]>>, nodes: readonly Node[] = NODES) {
  const podsOn = (name: string): readonly Pod[] => bound[name] ?? [];
  const used = (name: string) => podsOn(name).map(podRequests).reduce(add, NOTHING);
  const all = Object.entries(bound).flatMap(([name, pods]) =>
    pods.map((each): Pod => ({ ...each, spec: { ...each.spec!, nodeName: name } })),
  );
  const guarded = () =>
    all.filter(({ spec }) => spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const topology = new PodTopology(wanted, { nodes, podsOn, guarded, namespaceLabels: () => ({ team: 'x' }) });
  const choice = chooseNode(wanted, { nodes, used, topology });
  return choice.node ?? choice.message;
}

const near = { requiredDuringSchedulingIgnoredDuringExecution: [term('db', 'zone')] };
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [term('web')] };
const wish = {
  preference: { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['west'] }] },
  weight: 5,
};
const spread = (whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway') => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable, labelSelector: { matchLabels: { app: 'web' } } },
  ],
});
const web = (name: string): Pod => pod(name, 'web');

describe('a pod goes', () => {
  const cases: [name: string, pod: Pod, bound: Record<string, Pod[]>, expected: string | RegExp][] = [
    [
      'where it would rather be',
      pod('p', 'web', affinity({ nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [wish] } })),
      {},
      'c',
    ],
    [
      'into the zone of those that it belongs to',
      pod('p', 'web', affinity({ podAffinity: near })),
      { c: [pod('d', 'db')] },
      'c',
    ],
    [
      'nowhere without them',
      pod('p', 'web', affinity({ podAffinity: near })),
      {},
      /3 node\(s\) didn't match pod affinity rules/,
    ],
    ['anywhere as the first of its kind', pod('p', 'db', affinity({ podAffinity: near })), {}, 'a'],
    [
      'away from its kind',
      pod('p', 'web', affinity({ podAntiAffinity: apart })),
      { a: [web('1')], b: [web('2')] },
      'c',
    ],
    [
      'away from those that want to be alone',
      web('p'),
      { a: [pod('1', 'x', affinity({ podAntiAffinity: apart }))] },
      'b',
    ],
    [
      'rather near, where that is a wish',
      pod(
        'p',
        'web',
        affinity({
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term('db') }],
          },
        }),
      ),
      { b: [pod('d', 'db', {}, '1')] },
      'b',
    ],
    ['into the zone with fewer', pod('p', 'web', spread('DoNotSchedule')), { a: [web('1')] }, 'c'],
    [
      'nowhere where the skew would be too large and the others are full',
      pod('p', 'web', spread('DoNotSchedule'), '1'),
      { a: [web('1')], b: [web('2')], c: [pod('x', 'x', {}, '4')] },
      /1 Insufficient cpu, 2 node\(s\) didn't match pod topology spread constraints/,
    ],
    ['rather where fewer are', pod('p', 'web', spread('ScheduleAnyway')), { a: [web('1')], b: [web('2')] }, 'c'],
  ];
  for (const [name, wanted, bound, expected] of cases) {
    test(name, () => {
      const chosen = place(wanted, bound);
      if (typeof expected === 'string') assert.equal(chosen, expected);
      else assert.match(chosen, expected);
    });
  }
  test('rather not where it would have to put up with something', () => {
    const nodes = [node('a', 'east', [{ key: 'old', effect: 'PreferNoSchedule' }]), node('b', 'east')];
    assert.equal(place(web('p'), { b: [pod('x', 'x', {}, '2')] }, nodes), 'b');
  });
});

describe('room is made', () => {
  const low = (name: string, priority: number, cpu: string): Pod => pod(name, 'low', { priority }, cpu);
  const bound: Record<string, Pod[]> = {
    a: [low('a1', 5, '2'), low('a2', 1, '2')],
    b: [low('b1', 1, '1'), low('b2', 1, '3')],
    c: [low('c1', 50, '4')],
  };
  const make = (wanted: Pod) => {
    const podsOn = (name: string) => bound[name] ?? [];
    const used = (name: string) => podsOn(name).map(podRequests).reduce(add, NOTHING);
    const chosen = chooseVictims(wanted, { nodes: NODES, used, podsOn });
    return chosen && [chosen.node, ...chosen.victims.map(({ metadata }) => metadata?.name)];
  };
  for (const [name, spec, cpu, expected] of [
    ['by the fewest of the least important', { priority: 10 }, '1', ['a', 'a2']],
    ['by more of them where one is not enough', { priority: 10 }, '4', ['b', 'b1', 'b2']],
    ['not by equals', { priority: 1 }, '1', undefined],
    ['not for those who do not ask', { priority: 10, preemptionPolicy: 'Never' as const }, '1', undefined],
    ['not where it does not help', { priority: 100 }, '5', undefined],
  ] as const) {
    test(name, () => assert.deepEqual(make(pod('p', 'high', spec, cpu)), expected));
  }
});

describe('a pod leaves a tainted node', () => {
  const since = 1_000_000;
  const taint = { key: 'gone', effect: 'NoExecute', timeAdded: new Date(since).toISOString() } as const;
  const tolerates = (tolerationSeconds?: number): Toleration => ({
    key: 'gone',
    operator: 'Exists',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  });
  for (const [name, tolerations, expected] of [
    ['at once', [], 0],
    ['never', [tolerates()], undefined],
    ['after a while', [tolerates(300)], since + 300_000],
    ['after the shortest while', [tolerates(300), tolerates(10), tolerates()], since + 10_000],
  ] as const) {
    test(name, () => assert.equal(evictionTime([taint], [...tolerations], since), expected));
  }
  test('not for other effects', () =>
    assert.equal(evictionTime([{ ...taint, effect: 'NoSchedule' }], [], since), undefined));
});
