import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatGoFloat,
  formatGoJson,
  formatGoNumber,
  formatGoSyntax,
  formatGoValue,
  goTypeOf,
  quoteGo,
} from './go-format.ts';

describe('values as Go prints them', () => {
  const rows: [value: unknown, plain: string, syntax: string, type: string][] = [
    [null, '<nil>', 'interface {}(nil)', '<nil>'],
    ['a "b"', 'a "b"', '"a \\"b\\""', 'string'],
    [true, 'true', 'true', 'bool'],
    [3, '3', '3', 'int64'],
    [1.5, '1.5', '1.5', 'float64'],
    [['a', 1], '[a 1]', '[]interface {}{"a", 1}', '[]interface {}'],
    [
      { b: [null], a: { c: 'x' } },
      'map[a:map[c:x] b:[<nil>]]',
      'map[string]interface {}{"a":map[string]interface {}{"c":"x"}, "b":[]interface {}{interface {}(nil)}}',
      'map[string]interface {}',
    ],
  ];
  for (const [value, plain, syntax, type] of rows) {
    test(syntax, () => {
      assert.equal(formatGoValue(value), plain);
      assert.equal(formatGoSyntax(value), syntax);
      assert.equal(goTypeOf(value), type);
    });
  }
});

describe('strings in quotes', () => {
  const rows: [text: string, quoted: string][] = [
    ['', '""'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['a\nb\tc', '"a\\nb\\tc"'],
    ['é…日', '"é…日"'],
    ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
  ];
  for (const [text, quoted] of rows) test(quoted, () => assert.equal(quoteGo(text), quoted));

  test('a text of 3 MB is cut', () => {
    assert.equal(quoteGo('é'.repeat(3_000_000)), `"${'é'.repeat(16_384)}... (3000000 characters)"`);
  });
});

describe('numbers', () => {
  const rows: [value: number, text: string, float: string][] = [
    [0, '0', '0'],
    [-7, '-7', '-7'],
    [1.25, '1.25', '1.25'],
    [1e21, '1e+21', '1e+21'],
    [1e-7, '1e-07', '1e-07'],
    [1000000, '1000000', '1e+06'],
  ];
  for (const [value, text, float] of rows) {
    test(text, () => {
      assert.equal(formatGoNumber(value), text);
      assert.equal(formatGoFloat(value), float);
    });
  }
});

test('JSON as Go writes it', () => {
  assert.equal(
    formatGoJson({ b: '<&>', a: [1, { d: null, c: true }] }),
    '{"a":[1,{"c":true,"d":null}],"b":"\\u003c\\u0026\\u003e"}',
  );
  assert.equal(formatGoJson(undefined), 'null');
});
