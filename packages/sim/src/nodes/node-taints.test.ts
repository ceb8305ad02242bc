import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@asterism/machinery';
import { rightTaints } from './node-taints.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
const OWN = { key: 'dedicated', value: 'db', effect: 'NoSchedule' } as const;

function node(ready: boolean, taints?: NonNullable<Node['spec']>['taints']): Node {
  return {
    metadata: { name: 'a' },
    spec: taints === undefined ? {} : { taints },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

const cases: [name: string, node: Node, expected: ReturnType<typeof rightTaints>][] = [
  ['a ready node loses the taint and keeps others', node(true, [OWN, NOT_READY]), [OWN]],
  ['a ready node without the taint is left alone', node(true, [OWN]), undefined],
  ['a node that is not ready gets the taint', node(false, [OWN]), [OWN, NOT_READY]],
  ['a node that is not ready and has it is left alone', node(false, [NOT_READY]), undefined],
  [
    'the same key with another effect is not that taint',
    node(true, [{ ...NOT_READY, effect: 'NoExecute' }]),
    undefined,
  ],
];

for (const [name, given, expected] of cases) test(name, () => assert.deepEqual(rightTaints(given), expected));
