import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyJsonPatch } from '@asterism/machinery';
import fc from 'fast-check';
import { diffJson } from './diff-json.ts';

const CASES: readonly [name: string, before: unknown, after: unknown, patch: object[]][] = [
  ['the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['the same, in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['a member more', {}, { a: { b: 1 } }, [{ op: 'add', path: '/a', value: { b: 1 } }]],
  ['a member less', { a: 1, b: 2 }, { b: 2 }, [{ op: 'remove', path: '/a' }]],
  ['another value', { a: { b: 1 } }, { a: { b: '1' } }, [{ op: 'replace', path: '/a/b', value: '1' }]],
  ['null for a value', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
  ['a value for null', { a: null }, { a: 1 }, [{ op: 'replace', path: '/a', value: 1 }]],
  ['an object for a list', { a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
  ['keys to be escaped', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
  ['an item at the end', { a: [1] }, { a: [1, 2] }, [{ op: 'add', path: '/a/1', value: 2 }]],
  ['an item at the start', { a: [2, 3] }, { a: [1, 2, 3] }, [{ op: 'add', path: '/a/0', value: 1 }]],
  ['an item from the middle', { a: [1, 2, 3] }, { a: [1, 3] }, [{ op: 'remove', path: '/a/1' }]],
  [
    'several items',
    { a: [1, 2, 3, 9] },
    { a: [9] },
    [
      { op: 'remove', path: '/a/2' },
      { op: 'remove', path: '/a/1' },
      { op: 'remove', path: '/a/0' },
    ],
  ],
  ['within an item', { a: [{ n: 1, x: 1 }] }, { a: [{ n: 1, x: 2 }] }, [{ op: 'replace', path: '/a/0/x', value: 2 }]],
  ['equal items', { a: [1, 1, 1] }, { a: [1, 1] }, [{ op: 'remove', path: '/a/2' }]],
];

describe('diffJson', () => {
  for (const [name, before, after, patch] of CASES) {
    test(name, () => {
      assert.deepEqual(diffJson(before, after), patch);
      assert.deepEqual(applyJsonPatch(before, patch), after);
    });
  }

  test('a key of any name', () => {
    const after: unknown = JSON.parse('{"__proto__": {"a": 1}, "toString": 1}');
    assert.deepEqual(applyJsonPatch({}, diffJson({}, after)), after);
  });

  test('whatever is made of whatever, the patch makes it too', () => {
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, fc.constantFrom(null, 0, 1, 'a'), tie('list'), tie('object')),
      list: fc.array(tie('json'), { maxLength: 5 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', '~/'), tie('json'), { noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(json, json, (from, to) => {
        const [before, after] = [{ root: from }, { root: to }];
        assert.deepEqual(applyJsonPatch(before, diffJson(before, after)), after);
      }),
      { numRuns: 500 },
    );
  });
});
