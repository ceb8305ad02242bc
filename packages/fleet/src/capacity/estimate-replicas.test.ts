import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Amounts, addAmounts } from './amounts.ts';
import { estimateReplicas, type ReplicaNeeds } from './estimate-replicas.ts';
import { type FreeNode, summarizeNodes } from './summarize-nodes.ts';
import { randomNodes, seeded } from './testing/random-nodes.ts';

const GIB = 2 ** 30;

/** Node by node, which is what an estimate stands for. */
function exactly({ requests, claim = {} }: ReplicaNeeds, nodes: readonly FreeNode[]): number {
  let replicas = 0;
  for (const { labels, taints, free } of nodes) {
    const selected = Object.entries(claim.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
    const tolerated = taints.every(({ key }) => claim.tolerations?.some((each) => each.key === key));
    if (!selected || !tolerated) continue;
    const fits = Object.entries(requests).map(([name, amount]) => Math.floor((free[name] ?? 0) / amount));
    replicas += Math.min(free['pods'] ?? 0, ...fits);
  }
  return replicas;
}

/** What the sums alone would say: never too little. */
function bySums(requests: Amounts, nodes: readonly FreeNode[]): number {
  const sums: Record<string, number> = {};
  for (const { free } of nodes) addAmounts(sums, free);
  return Math.min(
    ...Object.entries({ pods: 1, ...requests }).map(([name, amount]) => Math.floor((sums[name] ?? 0) / amount)),
  );
}

const SHAPES: ReplicaNeeds[] = [
  { requests: {} },
  { requests: { cpu: 100, memory: GIB / 8 } },
  { requests: { cpu: 1_000, memory: 2 * GIB } },
  { requests: { cpu: 500, memory: 16 * GIB } },
  { requests: { cpu: 1_000 }, claim: { nodeSelector: { 'topology.kubernetes.io/zone': 'b' } } },
  { requests: { 'nvidia.com/gpu': 1 }, claim: { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] } },
];
const EVERY_SHAPE = [...SHAPES, { requests: { cpu: 24_000, memory: 64 * GIB } }];

describe('the estimate from grades', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    test(`of cluster ${seed} is never more than what fits, node by node, nor that more than the sums say`, () => {
      const random = seeded(seed);
      const nodes = randomNodes(Math.ceil(random() * 600), random);
      const capacity = summarizeNodes(nodes);
      assert.ok(capacity.pools.reduce((count, { grades }) => count + grades.length, 0) <= 64);
      for (const shape of EVERY_SHAPE) {
        const [estimate, exact] = [estimateReplicas(shape, capacity), exactly(shape, nodes)];
        assert.ok(estimate <= exact, `${JSON.stringify(shape)}: ${estimate} of ${exact}`);
        assert.ok(exact <= bySums(shape.requests, nodes));
      }
    });
  }

  test('is exact where each node has a grade of its own', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const nodes = randomNodes(1 + (seed % 60), seeded(seed));
      const capacity = summarizeNodes(nodes);
      for (const shape of EVERY_SHAPE) assert.equal(estimateReplicas(shape, capacity), exactly(shape, nodes));
    }
  });

  test('is exact for any number of nodes that are alike', () => {
    const node = { labels: {}, taints: [], free: { cpu: 3_999, memory: 7 * GIB, pods: 100 } };
    const nodes = Array.from({ length: 3_000 }, (_, index) => ({ ...node, name: `n${index}` }));
    const capacity = summarizeNodes(nodes);
    assert.deepEqual(capacity.pools, [{ nodes: 3_000, grades: [{ nodes: 3_000, free: [3_999, 7 * GIB, 100] }] }]);
    for (const shape of SHAPES) assert.equal(estimateReplicas(shape, capacity), exactly(shape, nodes));
  });

  test('of thousands of nodes that a scheduler filled finds most of what there is, for pods of common sizes', () => {
    for (let seed = 101; seed <= 110; seed += 1) {
      const nodes = randomNodes(3_000, seeded(seed), 'by pods');
      const capacity = summarizeNodes(nodes);
      for (const shape of SHAPES.slice(0, 3)) {
        const [estimate, exact] = [estimateReplicas(shape, capacity), exactly(shape, nodes)];
        assert.ok(estimate >= exact * 0.7, `cluster ${seed}, ${JSON.stringify(shape)}: ${estimate} of ${exact}`);
      }
    }
  });

  test('does not count what lies in pieces too small', () => {
    const nodes = Array.from({ length: 10 }, (_, index) => ({
      name: `n${index}`,
      labels: {},
      taints: [],
      free: { cpu: 900, memory: GIB, pods: 10 },
    }));
    assert.equal(bySums({ cpu: 1_000 }, nodes), 9);
    assert.equal(estimateReplicas({ requests: { cpu: 1_000 } }, summarizeNodes(nodes)), 0);
  });
});

describe('claims on nodes', () => {
  const node = (name: string, labels: Record<string, string>, pods: number): FreeNode => ({
    name,
    labels: { 'kubernetes.io/hostname': name, ...labels },
    taints: [],
    free: { cpu: 4_000, pods },
  });
  const nodes = [node('a', { disk: 'ssd' }, 10), node('b', { disk: 'hdd' }, 20), node('c', {}, 30)];
  const capacity = summarizeNodes(nodes);
  const terms = (matchExpressions: { key: string; operator: string; values?: string[] }[]): ReplicaNeeds => ({
    requests: {},
    claim: { terms: [{ matchExpressions: matchExpressions as never }] },
  });

  for (const [what, needs, expected] of [
    ['none', { requests: {} }, 60],
    ['a selector', { requests: {}, claim: { nodeSelector: { disk: 'ssd' } } }, 10],
    ['a label that no node has', { requests: {}, claim: { nodeSelector: { color: 'red' } } }, 0],
    ['In', terms([{ key: 'disk', operator: 'In', values: ['ssd', 'hdd'] }]), 30],
    ['NotIn, which those without the label meet', terms([{ key: 'disk', operator: 'NotIn', values: ['ssd'] }]), 50],
    ['Exists', terms([{ key: 'disk', operator: 'Exists' }]), 30],
    ['DoesNotExist', terms([{ key: 'disk', operator: 'DoesNotExist' }]), 30],
    [
      'a host by name: no more than fits into the roomiest',
      terms([{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }]),
      30,
    ],
    ['no term', { requests: {}, claim: { terms: [] } }, 0],
    ['an empty term', { requests: {}, claim: { terms: [{}] } }, 0],
  ] as const) {
    test(what, () => assert.equal(estimateReplicas(needs as ReplicaNeeds, capacity), expected));
  }

  test('taints keep away whoever does not tolerate them', () => {
    const tainted = { ...node('d', {}, 40), taints: [{ key: 'team', value: 'a', effect: 'NoExecute' as const }] };
    const summary = summarizeNodes([...nodes, tainted]);
    assert.equal(estimateReplicas({ requests: {} }, summary), 60);
    const tolerations = [{ key: 'team', operator: 'Equal' as const, value: 'a' }];
    assert.equal(estimateReplicas({ requests: {}, claim: { tolerations } }, summary), 100);
  });
});
