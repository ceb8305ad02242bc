import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatJsonPointer, parseJsonPointer, valueAtPointer } from './json-pointer.ts';

describe('the examples of RFC 6901', () => {
  const document = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'm~n': 8, '~1': 9 };
  const rows: [pointer: string, value: unknown][] = [
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/foo/2', undefined],
    ['/foo/-', undefined],
    ['/foo/01', undefined],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/m~0n', 8],
    ['/~01', 9],
    ['/foo/0/x', undefined],
    ['/toString', undefined],
  ];
  for (const [pointer, value] of rows) {
    test(JSON.stringify(pointer), () => {
      const tokens = parseJsonPointer(pointer);
      assert.ok(tokens);
      assert.deepEqual(valueAtPointer(document, tokens), value);
    });
  }
});

test('a text without a leading slash is no pointer', () => assert.equal(parseJsonPointer('foo'), undefined));

test('formatting is the inverse of parsing', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'ab/~01'.split('')) })), (tokens) => {
      assert.deepEqual(parseJsonPointer(formatJsonPointer(tokens)), tokens);
    }),
  );
});
