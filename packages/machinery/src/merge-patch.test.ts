import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyMergePatch } from './merge-patch.ts';
import { StatusError } from './status.ts';

describe('the examples of RFC 7386 that have an object as their patch', () => {
  const rows: [target: unknown, patch: object, result: object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ l: '1' }, { l: { x: null } }, { l: {} }],
  ];
  for (const [target, patch, result] of rows) {
    test(`${JSON.stringify(target)} + ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(applyMergePatch(target, patch), result);
    });
  }
});

test('objects in a list lose their nulls, a null that is an item stays', () => {
  const patch = { l: [{ x: null, y: [{ z: null }] }, null] };
  for (const l of [undefined, null, 1, [{}]]) {
    assert.deepEqual(applyMergePatch({ a: 1, l }, patch), { a: 1, l: [{ y: [{}] }, null] });
  }
});

test('a list that takes the place of an object keeps its nulls', () => {
  const patch = { l: [{ x: null }] };
  assert.deepEqual(applyMergePatch({ l: { y: 1 } }, patch), patch);
});

describe('what is no patch', () => {
  const rows: [patch: unknown, message: string][] = [
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [5, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
    [false, 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}'],
  ];
  for (const [patch, message] of rows) {
    test(JSON.stringify(patch), () => {
      assert.throws(
        () => applyMergePatch({}, patch),
        (error) => error instanceof StatusError && error.code === 400 && error.message === message,
      );
    });
  }
});

test('a member called __proto__ is a member', () => {
  const result = applyMergePatch({ a: 1 }, JSON.parse('{"__proto__":{"polluted":true}}'));
  assert.equal(JSON.stringify(result), '{"a":1,"__proto__":{"polluted":true}}');
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 }));

test('applied twice it does what it does once, and changes neither argument', () => {
  // But for a list with nulls in the place of an object: the second time it takes the place of a list.
  const patches = object.filter((patch) => !/\[.*null/.test(JSON.stringify(patch)));
  fc.assert(
    fc.property(object, patches, (target, patch) => {
      const before = JSON.stringify([target, patch]);
      const once = applyMergePatch(target, patch);
      assert.deepEqual(applyMergePatch(once, patch), once);
      assert.equal(JSON.stringify([target, patch]), before);
    }),
  );
});
