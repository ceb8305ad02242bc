import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FreeNode, summarizeNodes } from './summarize-nodes.ts';
import { randomNodes, seeded } from './testing/random-nodes.ts';

const bare = (name: string, labels: Record<string, string>, taint?: string): FreeNode => ({
  name,
  labels,
  taints: taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' }],
  free: { cpu: 1_000, pods: 10 },
});
const many = (count: number, labelsOf: (index: number) => Record<string, string>): FreeNode[] =>
  Array.from({ length: count }, (_, index) => bare(`n${String(index).padStart(4, '0')}`, labelsOf(index)));

describe('the summary of nodes', () => {
  test('is the same for any order of nodes', () => {
    const nodes = randomNodes(200, seeded(7));
    assert.deepEqual(summarizeNodes(nodes.toReversed()), summarizeNodes(nodes));
  });

  test('tells every node, in a grade that has no more than it', () => {
    const nodes = randomNodes(500, seeded(8));
    const { pools, resources } = summarizeNodes(nodes);
    assert.equal(
      pools.reduce((sum, pool) => sum + pool.nodes, 0),
      500,
    );
    for (const pool of pools)
      assert.equal(
        pool.grades.reduce((sum, grade) => sum + grade.nodes, 0),
        pool.nodes,
      );
    for (const [column, name] of resources.entries()) {
      const told = pools.flatMap(({ grades }) => grades.map(({ nodes: count, free }) => count * (free[column] ?? 0)));
      const free = nodes.reduce((sum, node) => sum + (node.free[name] ?? 0), 0);
      assert.ok(told.reduce((sum, part) => sum + part, 0) <= free);
    }
  });

  test('parts by labels, tells what is common once, and names what it does not tell', () => {
    const nodes = many(40, (index) => ({
      'kubernetes.io/hostname': `h${index}`,
      os: 'linux',
      zone: index % 2 === 0 ? 'a' : 'b',
      serial: `s${index}`,
    }));
    const { labels, unlistedLabels, pools } = summarizeNodes(nodes);
    assert.deepEqual(labels, { os: 'linux' });
    assert.deepEqual(unlistedLabels, ['kubernetes.io/hostname', 'serial']);
    assert.deepEqual(
      pools.map(({ labels: own, nodes: count }) => [own, count]),
      [
        [{ zone: 'a' }, 20],
        [{ zone: 'b' }, 20],
      ],
    );
  });

  test('stays small whatever labels and taints there are', () => {
    const labelled = many(2_000, (index) =>
      Object.fromEntries(
        Array.from({ length: 120 }, (_, key) => [`label-${key}`, key < 80 ? 'same' : `v${index % (key - 70)}`]),
      ),
    );
    const nodes = labelled.map((node, index) => ({ ...node, taints: bare('', {}, `taint-${index % 40}`).taints }));
    const summary = summarizeNodes(nodes);
    assert.ok(summary.pools.length <= 16, `${summary.pools.length} pools`);
    assert.ok(JSON.stringify(summary).length < 16_384);
    const told = new Set([...Object.keys(summary.labels ?? {}), ...(summary.unlistedLabels ?? [])]);
    assert.ok(told.has('label-0') && told.has('label-119'));
  });
});
