import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Toleration } from '@asterism/machinery';
import { matchesNodeTerm, untolerated } from './node-fit.ts';

const node: Node = {
  metadata: { name: 'a', labels: { zone: 'x', cores: '8' } },
  spec: { taints: [{ key: 'gpu', value: '2', effect: 'NoSchedule' }] },
};

describe('a required term', () => {
  const inZone: NodeSelectorRequirement = { key: 'zone', operator: 'In', values: ['x', 'y'] };
  const fewCores: NodeSelectorRequirement = { key: 'cores', operator: 'Lt', values: ['8'] };

  test('holds where all that it asks for does', () => {
    assert.equal(matchesNodeTerm({ matchExpressions: [inZone] }, node), true);
    assert.equal(matchesNodeTerm({ matchExpressions: [inZone, fewCores] }, node), false);
  });

  test('that names the node', () => {
    const named = (name: string): NodeSelectorTerm => ({
      matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
    });
    assert.deepEqual([matchesNodeTerm(named('a'), node), matchesNodeTerm(named('b'), node)], [true, false]);
  });

  test('that asks for nothing matches nothing', () => assert.equal(matchesNodeTerm({}, node), false));
});

describe('a taint is tolerated', () => {
  const rows: [toleration: Toleration, tolerated: boolean][] = [
    [{ operator: 'Exists' }, true],
    [{ key: 'gpu', operator: 'Exists' }, true],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'gpu', value: '2' }, true],
    [{ key: 'gpu', value: '3' }, false],
    [{ key: 'gpu', operator: 'Gt', value: '1' }, true],
    [{ key: 'cpu', operator: 'Exists' }, false],
  ];
  for (const [toleration, tolerated] of rows) {
    test(JSON.stringify(toleration), () => {
      assert.equal(untolerated(node, [toleration], ['NoSchedule']) === undefined, tolerated);
    });
  }
});
