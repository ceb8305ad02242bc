import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@asterism/machinery';
import { rightTaints, type Taint } from './node-taints.ts';

const NOW = '2026-01-01T00:00:00Z';
const BEFORE = '2025-01-01T00:00:00Z';
const OWN = { key: 'dedicated', value: 'db', effect: 'NoSchedule' } as const;
const both = (name: string, timeAdded = NOW): Taint[] =>
  (['NoSchedule', 'NoExecute'] as const).map((effect) => ({ key: `node.kubernetes.io/${name}`, effect, timeAdded }));
const early = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

function node(status: string | undefined, taints?: Taint[]): Node {
  return {
    metadata: { name: 'a' },
    spec: taints === undefined ? {} : { taints },
    status: { conditions: status === undefined ? [] : [{ type: 'Ready', status }] },
  };
}

const cases: [name: string, node: Node, expected: Taint[] | undefined][] = [
  ['a ready node loses the taints and keeps others', node('True', [OWN, ...both('not-ready')]), [OWN]],
  ['a ready node loses the taint that it was made with', node('True', [early]), []],
  ['a ready node without them is left alone', node('True', [OWN]), undefined],
  ['a node that is not ready gets them', node('False', [OWN]), [OWN, ...both('not-ready')]],
  ['a node that has said nothing yet gets them', node(undefined), both('not-ready')],
  ['a node that is not ready and has them is left alone', node('False', both('not-ready', BEFORE)), undefined],
  ['what is there keeps its time', node('False', [early]), [early, both('not-ready')[1]!]],
  ['a node that is not heard of is unreachable', node('Unknown', both('not-ready', BEFORE)), both('unreachable')],
  ['a node that is heard of again, not ready', node('False', both('unreachable', BEFORE)), both('not-ready')],
];

for (const [name, given, expected] of cases) test(name, () => assert.deepEqual(rightTaints(given, NOW), expected));
