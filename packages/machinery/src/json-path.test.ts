import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileJsonPath } from './json-path.ts';
import { StatusError } from './status.ts';

const OBJECT = {
  metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'w', 'a]b': 'odd' } },
  spec: {
    replicas: 3,
    paused: false,
    items: [
      { n: 'x', v: 1 },
      { n: 'y', v: 2 },
      { n: 'z', v: 3 },
    ],
    none: null,
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False', reason: 'Late' },
    ],
  },
};

describe('what a path finds', () => {
  const rows: [path: string, found: unknown[]][] = [
    ['.metadata.name', ['web']],
    ['{.metadata.name}', ['web']],
    ['$.metadata.name', ['web']],
    ['metadata.name', ['web']],
    ['.spec.paused', [false]],
    ['.spec.none', [null]],
    ['.spec.missing', []],
    ['.spec.replicas.deeper', []],
    ['.toString', []],
    ['.', [OBJECT]],
    ['', [OBJECT]],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['w']],
    ["['metadata']['labels']['app.kubernetes.io/name']", ['w']],
    ['.metadata.labels["a]b"]', ['odd']],
    ['.spec.items[0].n', ['x']],
    ['.spec.items[-1].n', ['z']],
    ['.spec.items[7]', []],
    ['.spec.items[*].n', ['x', 'y', 'z']],
    ['.spec.items.*.v', [1, 2, 3]],
    ['.spec.items[1:].n', ['y', 'z']],
    ['.spec.items[:-1].n', ['x', 'y']],
    ['.spec.items[0:3:2].n', ['x', 'z']],
    ['.spec.items[0,2].n', ['x', 'z']],
    ["['kind','spec'].replicas", [3]],
    ['.metadata[0]', []],
    ['..status', [OBJECT.status, 'True', 'False']],
    ['.status..reason', ['Late']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ["{.status.conditions[?(@.type == 'Synced')].reason}", ['Late']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Synced']],
    ['.status.conditions[?(@.reason)].type', ['Synced']],
    ['.status.conditions[?(@.type=="Nope")].status', []],
    ['.spec.items[?(@.v>=2)].n', ['y', 'z']],
    ['.spec.items[?(@.v<2)].n', ['x']],
    ['.spec.items[?(@.v>2)].n', ['z']],
    ['.spec.items[?(@.v<=1)].n', ['x']],
    ['.spec.items[?(@.v=="1")].n', []],
    ['.spec.items[?(@.v>"0")].n', []],
    ['.spec.items[?(@.n>"x")].n', ['y', 'z']],
    ['.spec.items[?(@[\'n\']=="y")].v', [2]],
    ['.spec[?(@.x=="y")]', []],
  ];
  for (const [path, found] of rows) {
    test(JSON.stringify(path), () => assert.deepEqual(compileJsonPath(path)(OBJECT), found));
  }
});

describe('what cannot be read', () => {
  const rows: [path: string, why: RegExp][] = [
    ['.spec[', /the JSON path \.spec\[ is wrong before "\[": the bracket is not closed/],
    ['.spec[a]', /expected an index, a slice, a name in quotes/],
    ['.spec["a]', /the text in " is not closed/],
    ['.spec]', /wrong before "\]": expected '\.' or '\['/],
    ['.a...b', /expected the name of a field/],
    ['.a[?(@.x==y)]', /"y" where a path, a text in quotes or a number can stand/],
    ['.a b', /expected '\.' or '\['/],
  ];
  for (const [path, why] of rows) {
    test(JSON.stringify(path), () => {
      assert.throws(
        () => compileJsonPath(path),
        (error) => error instanceof StatusError && error.code === 400 && why.test(error.message),
      );
    });
  }
});
