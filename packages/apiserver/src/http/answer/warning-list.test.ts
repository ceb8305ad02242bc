import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WarningList } from './warning-list.ts';

function headersOf(...texts: string[]): string[] {
  const warnings = new WarningList();
  for (const text of texts) warnings.add(text);
  return warnings.headers();
}

describe('the warnings of an answer', () => {
  test('are headers of code 299, quoted, each text once', () => {
    assert.deepEqual(headersOf('a', 'say "b\\"', 'a', ''), ['299 - "a"', '299 - "say \\"b\\\\\\""']);
  });

  test('are UTF-8 on the wire', () => {
    assert.equal(Buffer.from(headersOf('ü')[0] ?? '', 'latin1').toString(), '299 - "ü"');
  });

  test('with control characters are left out', () => {
    assert.deepEqual(headersOf('a\nb', 'c'), ['299 - "c"']);
  });

  test('of up to 4,096 characters together are whole', () => {
    assert.deepEqual(
      headersOf('x'.repeat(4_000), 'y'.repeat(96)).map(({ length }) => length),
      [4_008, 104],
    );
  });

  test('of more are cut to 256 characters each, until 4,096 are reached', () => {
    const many = Array.from({ length: 40 }, (_, index) => `${String(index).padStart(2, '0')}${'x'.repeat(400)}`);
    const headers = headersOf(...many);
    assert.equal(headers.length, 16);
    assert.deepEqual(new Set(headers.map(({ length }) => length)), new Set([256 + '299 - ""'.length]));
  });
});
