import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { deepEqual } from './deep-equal.ts';

describe('deepEqual', () => {
  const rows: [a: unknown, b: unknown, equal: boolean][] = [
    [1, 1, true],
    [1, '1', false],
    [null, undefined, false],
    [null, {}, false],
    [[], {}, false],
    [{}, [], false],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{ a: 1, b: 1 }, { a: 1, c: 1 }, false],
    [{ toString: 1 }, {}, false],
    [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 1 }] } }, true],
    [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }, false],
  ];
  for (const [a, b, equal] of rows) {
    test(`${JSON.stringify(a)} ${equal ? 'is' : 'is not'} ${JSON.stringify(b)}`, () => {
      assert.equal(deepEqual(a, b), equal);
      assert.equal(deepEqual(b, a), equal);
    });
  }

  test('a clone is equal', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.ok(deepEqual(value, structuredClone(value)))));
  });

  test('it agrees with node:assert about JSON', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(small, small, (a, b) => {
        let equal = true;
        try {
          assert.deepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
        } catch {
          equal = false;
        }
        assert.equal(deepEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))), equal);
      }),
    );
  });
});
