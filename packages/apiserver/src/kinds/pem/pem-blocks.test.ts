import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pemBlocks } from './pem-blocks.ts';

const block = (type: string, body = 'AAAA\n'): string => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;

for (const { name, text, expected } of [
  { name: 'nothing', text: '', expected: [] },
  {
    name: 'two with text around them',
    text: `x\n${block('A')}y\n${block('B C', 'b\n')}z`,
    expected: [
      { type: 'A', body: 'AAAA\n' },
      { type: 'B C', body: 'b\n' },
    ],
  },
  { name: 'an empty body', text: block('A', ''), expected: [{ type: 'A', body: '' }] },
  { name: 'no end', text: '-----BEGIN A-----\nAAAA', expected: [] },
  { name: 'the end of another', text: '-----BEGIN A-----\n-----END B-----', expected: [] },
  { name: 'an end before the head', text: '-----END A-----\n-----BEGIN A-----\n', expected: [] },
  {
    name: 'a head in a head',
    text: `-----BEGIN A-----BEGIN B-----\nb-----END B-----`,
    expected: [{ type: 'B', body: 'b' }],
  },
  {
    name: 'a block within another',
    text: `-----BEGIN A-----\n${block('B')}-----END A-----`,
    expected: [{ type: 'A', body: block('B') }],
  },
  {
    name: 'a line break of Windows',
    text: '-----BEGIN A-----\r\na-----END A-----',
    expected: [{ type: 'A', body: 'a' }],
  },
]) {
  test(`the blocks of a text: ${name}`, () => assert.deepEqual(pemBlocks(text), expected));
}

test('heads without an end take linear time', () => {
  for (const line of ['-----BEGIN A-----\n', '-----BEGIN A-----\n-----END B-----\n', '-----BEGIN ', '-----END A-----'])
    assert.deepEqual(pemBlocks(line.repeat(3_000_000 / line.length)), []);
  const types = Array.from({ length: 60_000 }, (_, index) => `-----BEGIN ${index}-----\n-----END x${index}-----\n`);
  assert.deepEqual(pemBlocks(types.join('')), []);
});
