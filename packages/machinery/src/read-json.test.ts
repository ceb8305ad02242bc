import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { endOfJsonString, readJson } from './read-json.ts';

describe('readJson', () => {
  test('any value, however it is indented', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        assert.equal(JSON.stringify(readJson(text), undefined, space), text);
      }),
      { numRuns: 1000 },
    );
  });

  const rows: [name: string, text: string, value: unknown][] = [
    ['literals between spaces', '\r\n[ true ,\tfalse , null,-0 , 1.50e+2 ]\n', [true, false, null, -0, 150]],
    ['nothing in it', '{ "a" : { } , "b" : [ ] }', { a: {}, b: [] }],
    ['brackets, commas, colons and quotes in strings', '{"{\\"}:,[":"]},\\\\"}', { '{"}:,[': ']},\\' }],
    ['a string alone', ' "\\u00e9\\n" ', 'é\n'],
    ['a number alone', '7', 7],
  ];
  for (const [name, text, value] of rows) test(name, () => assert.deepEqual(readJson(text), value));

  test('a key that stands twice is told before its value is read, and the two are merged as asked', () => {
    const text = '{"a":[0,{"b":1,"c":2,"\\u0062":{"d":1,"d":2}}],"":{"x":1,"x":2,"x":3}}';
    const told: unknown[] = [];
    const value = readJson(text, {
      repeated: (path) => told.push(path()),
      merge: (first, second) => [first, second],
    });
    assert.deepEqual(told, [
      ['a', 1, 'b'],
      ['a', 1, 'b', 'd'],
      ['', 'x'],
      ['', 'x'],
    ]);
    assert.equal(JSON.stringify(value), '{"a":[0,{"b":[1,{"d":[1,2]}],"c":2}],"":{"x":[[1,2],3]}}');
    assert.equal(JSON.stringify(readJson(text)), '{"a":[0,{"b":{"d":2},"c":2}],"":{"x":3}}');
  });

  test('a number is what the reader is told that it is', () => {
    const value = readJson('{"1":"2","a":[3.0,-4,true]}', { number: (source) => `<${source}>` });
    assert.deepEqual(value, { 1: '2', a: ['<3.0>', '<-4>', true] });
  });

  test('a text that ends in the middle is refused, not waited for', () => {
    for (const text of ['', '[1', '{"a"', '[nul']) assert.throws(() => readJson(text), SyntaxError);
  });
});

test('endOfJsonString: a quote counts unless an odd number of backslashes stands before it', () => {
  assert.equal(endOfJsonString('["a\\"b\\\\",1]', 1), 9);
  assert.equal(endOfJsonString('"open\\"', 0), 7);
});
