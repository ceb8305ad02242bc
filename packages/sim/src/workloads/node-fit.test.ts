import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, Toleration } from '@asterism/machinery';
import { matchesNodeTerm, untolerated } from './node-fit.ts';

const node: Node = {
  metadata: { name: 'a', labels: { zone: 'x', cores: '8' } },
  spec: { taints: [{ key: 'gpu', value: '2', effect: 'NoSchedule' }] },
};

describe('a required term', () => {
  const rows: [key: string, operator: string, values: string[], holds: boolean][] = [
    ['zone', 'In', ['x', 'y'], true],
    ['zone', 'NotIn', ['x'], false],
    ['disk', 'NotIn', ['x'], true],
    ['zone', 'Exists', [], true],
    ['disk', 'DoesNotExist', [], true],
    ['cores', 'Gt', ['7'], true],
    ['cores', 'Lt', ['8'], false],
    ['zone', 'Gt', ['1'], false],
    ['disk', 'Lt', ['8'], false],
  ];
  for (const [key, operator, values, holds] of rows) {
    test(`${key} ${operator} ${values.join()}`, () => {
      assert.equal(matchesNodeTerm({ matchExpressions: [{ key, operator, values }] }, node), holds);
    });
  }

  test('that names the node', () => {
    const named = (name: string) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] });
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
