import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '@asterism/machinery';
import fc from 'fast-check';
import { findDuplicateFields, measureJson } from './duplicate-fields.ts';

const rows: [name: string, text: string, expect: string[]][] = [
  ['none', '{"a":1,"b":{"a":[{"a":":"}]}}', []],
  ['at the top', '{"a":1,"a":2}', ['duplicate field "a"']],
  [
    'in several places',
    '{"metadata":{"name":"d","name":"d"},"data":{"a":"1","a":"2"},"data":{"b":"3"}}',
    ['duplicate field "metadata.name"', 'duplicate field "data.a"', 'duplicate field "data"'],
  ],
  ['in a list', ' { "x" : [ {"k":1} , {"k":1, "k" : -1.5e3} ] } ', ['duplicate field "x[1].k"']],
  ['thrice is named once', '{"a":true,"a":null,"a":[]}', ['duplicate field "a"']],
  ['escaped in two ways', String.raw`{"\u0061":"\\\"","a":"{\"a\":1}"}`, ['duplicate field "a"']],
  ['behind a long number', `{"n":1${'0'.repeat(500)},"a":1,"a":2}`, ['duplicate field "a"']],
];

for (const [name, text, expect] of rows) {
  test(`duplicate fields: ${name}`, () => {
    assert.deepEqual(findDuplicateFields(text, parseJson(text))?.errors ?? [], expect);
  });
}

test('depth counts brackets that are not in strings', () => {
  assert.deepEqual(measureJson('{"a":["[[[[",{"b{":1}],"c":{}}'), { keys: 3, values: 7, depth: 3 });
});

test('what JSON.stringify wrote never has duplicates', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: unknown = parseJson(text);
      const plain = JSON.stringify(value);
      assert.equal(findDuplicateFields(plain, parseJson(plain)), undefined);
    }),
  );
});

test('a key written twice is always found, wherever it stands', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, key) => {
      const name = JSON.stringify(key);
      const text = `{"outer":[${JSON.stringify(value)},{${name}:${JSON.stringify(value)},${name}:1}]}`;
      assert.equal(findDuplicateFields(text, parseJson(text))?.errors.length, 1);
    }),
  );
});

test('objects under the same key are merged, of anything else the last counts', () => {
  const text = '{"data":{"a":"1","b":"1"},"list":[1],"data":{"b":"2","c":"2"},"list":[2],"x":{"y":1},"x":3}';
  const { merged } = findDuplicateFields(text, parseJson(text))!;
  assert.deepEqual(merged, { data: { a: '1', b: '2', c: '2' }, list: [2], x: 3 });
});

test('of many keys that stand twice under a long one only the first hundred are told', () => {
  const twice = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1,"k${index}":2`);
  const text = `{"${'x'.repeat(100_000)}":{${twice.join()}}}`;
  assert.equal(findDuplicateFields(text, parseJson(text))?.errors.length, 100);
});

const often: [name: string, text: string][] = [
  ['a key under a long one', `{"${'x'.repeat(100_000)}":{${Array<string>(300_000).fill('"a":1').join()}}}`],
  [
    'an object, once large',
    `{"a":{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}},${Array<string>(20_000).fill('"a":{"z":1}').join()}}`,
  ],
];
for (const [name, text] of often) {
  test(`${name} that stands very often is told once, and soon`, () => {
    const before = process.cpuUsage();
    assert.equal(findDuplicateFields(text, parseJson(text))?.errors.length, 1);
    // It takes a quarter of a second, and many times as long where each time is looked at all over again.
    assert.ok(process.cpuUsage(before).user < 5_000_000);
  });
}
