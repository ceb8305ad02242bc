import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  milliValue,
  parseQuantity,
  quantityToNumber,
  subtractQuantities,
} from './quantity.ts';
import { StatusError } from './status.ts';

describe('the canonical form and the number of a quantity', () => {
  const rows: [text: string | number, canonical: string, number: number][] = [
    ['0', '0', 0],
    ['-0', '0', 0],
    ['0Ki', '0', 0],
    ['1', '1', 1],
    [2, '2', 2],
    [0.5, '500m', 0.5],
    ['100m', '100m', 0.1],
    ['0.1', '100m', 0.1],
    ['1000m', '1', 1],
    ['1500m', '1500m', 1.5],
    ['1000', '1k', 1000],
    ['1024', '1024', 1024],
    ['1Ki', '1Ki', 1024],
    ['1024Ki', '1Mi', 1024 ** 2],
    ['1.5Gi', '1536Mi', 1.5 * 1024 ** 3],
    ['0.5Ki', '512', 512],
    ['-2048Ki', '-2Mi', -2 * 1024 ** 2],
    ['0.0001Ki', '102400u', 0.1024],
    ['1000Ki', '1000Ki', 1_024_000],
    ['123456789', '123456789', 123_456_789],
    ['1e3', '1e3', 1000],
    ['1E3', '1e3', 1000],
    ['12e-1', '1200e-3', 1.2],
    ['1E', '1E', 1e18],
    ['+5', '5', 5],
    ['.5', '500m', 0.5],
    ['5.', '5', 5],
    ['1n', '1n', 1e-9],
    ['0.0000000001', '1n', 1e-9],
    ['-0.0000000001', '-1n', -1e-9],
    ['1e-1000000000', '1e-9', 1e-9],
    ['9223372036854775807', '9223372036854775807', 2 ** 63],
    ['9223372036854775808', '9223372036854775807', 2 ** 63],
    ['100E', '9223372036854775807', 2 ** 63],
    ['1e1000000000', '9223372036854775807e0', 2 ** 63],
    [`1.${'0'.repeat(100)}1`, '1000000001n', 1.000000001],
    [`0.${'0'.repeat(100)}1e100`, '100e-3', 0.1],
    [`${'0'.repeat(100)}7`, '7', 7],
    [`1${'0'.repeat(100)}e-100`, '1e0', 1],
    ['-8Ei', '-9223372036854775807', -(2 ** 63)],
  ];
  for (const [text, canonical, number] of rows) {
    test(String(text), () => {
      const quantity = parseQuantity(text);
      assert.equal(formatQuantity(quantity), canonical);
      assert.equal(quantityToNumber(quantity), number);
      assert.equal(isQuantity(text), true);
    });
  }
});

describe('what is no quantity, in the words of Kubernetes', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const rows: [text: string, message: string][] = [
    ['', format],
    ['x', format],
    ['1.2.3', format],
    ['1 Gi', format],
    ['1Gi\n', format],
    ['.', 'unable to parse numeric part of quantity'],
    ['1ki', "unable to parse quantity's suffix"],
    ['1Kii', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1i', "unable to parse quantity's suffix"],
  ];
  for (const [text, message] of rows) {
    test(JSON.stringify(text), () => {
      assert.throws(
        () => parseQuantity(text),
        (error) => error instanceof StatusError && error.code === 400 && error.message === message,
      );
      assert.equal(isQuantity(text), false);
    });
  }
  test('other values', () => {
    for (const value of [undefined, null, {}, true, Number.NaN]) assert.equal(isQuantity(value), false);
  });
});

test('sums and differences keep the format of the first, unless that is zero', () => {
  const sum = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
  assert.equal(sum('1Gi', '1G'), '2073741824');
  assert.equal(sum('1Gi', '24Mi'), '1048Mi');
  assert.equal(sum('0', '1Gi'), '1Gi');
  assert.equal(sum('250m', '1'), '1250m');
  const difference = (a: string, b: string) => formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b)));
  assert.equal(difference('2Gi', '1Gi'), '1Gi');
  assert.equal(difference('1', '1500m'), '-500m');
});

test('milliValue rounds away from zero', () => {
  const rows: [string, number][] = [
    ['1', 1000],
    ['100m', 100],
    ['1u', 1],
    ['-1u', -1],
    ['1500u', 2],
    ['2', 2000],
  ];
  for (const [text, milli] of rows) assert.equal(milliValue(parseQuantity(text)), milli, text);
});

test('a text of a million digits is read at once', () => {
  const started = performance.now();
  assert.equal(formatQuantity(parseQuantity(`0.${'9'.repeat(1_000_000)}`)), '1');
  assert.ok(performance.now() - started < 100);
});

const suffix = fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-3');
const quantityText = fc
  .tuple(fc.constantFrom('', '-'), fc.nat({ max: 99_999 }), fc.nat({ max: 999 }), suffix)
  .map(([sign, whole, fraction, unit]) => `${sign}${whole}.${fraction}${unit}`);

test('the canonical form means the same and is its own canonical form', () => {
  fc.assert(
    fc.property(quantityText, (text) => {
      const quantity = parseQuantity(text);
      const canonical = formatQuantity(quantity);
      assert.equal(compareQuantities(parseQuantity(canonical), quantity), 0);
      assert.equal(formatQuantity(parseQuantity(canonical)), canonical);
      assert.doesNotMatch(canonical, /\./);
    }),
  );
});

test('adding and taking away again is exact, and order agrees with difference', () => {
  fc.assert(
    fc.property(quantityText, quantityText, (left, right) => {
      const [a, b] = [parseQuantity(left), parseQuantity(right)];
      assert.equal(compareQuantities(subtractQuantities(addQuantities(a, b), b), a), 0);
      const difference = subtractQuantities(a, b).nanos;
      assert.equal(compareQuantities(a, b), difference < 0n ? -1 : difference > 0n ? 1 : 0);
    }),
  );
});
