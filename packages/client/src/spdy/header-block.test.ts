import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { HeaderReader, HeaderWriter } from './header-block.ts';
import { headerDictionary } from './header-dictionary.ts';
import { SpdyProtocolError } from './spdy-frames.ts';

test('the dictionary is that of SPDY/3: its Adler-32 is in each of its streams', () => {
  const stream = deflateSync('x', { dictionary: headerDictionary() });
  assert.equal(stream.toString('hex', 2, 6), 'e3c6a7c2');
});

test('blocks of one stream, in order', async () => {
  const writer = new HeaderWriter();
  const reader = new HeaderReader();
  const blocks = [new Map(), new Map([['streamtype', 'error']]), new Map([['a', 'b'.repeat(60_000)]])];
  for (const headers of blocks) assert.deepEqual(await reader.read(writer.write(headers)), headers);
  reader.close();
});

const bad: [name: string, block: Buffer][] = [
  ['what expands to megabytes', deflateSync(Buffer.alloc(5_000_000), { dictionary: headerDictionary() })],
  ['a count of nothing', deflateSync(Buffer.from([0, 0, 0, 9]), { dictionary: headerDictionary() })],
  [
    'a length beyond the end',
    deflateSync(Buffer.from([0, 0, 0, 1, 255, 255, 255, 255]), { dictionary: headerDictionary() }),
  ],
  ['an empty name', deflateSync(Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), { dictionary: headerDictionary() })],
  ['another dictionary', deflateSync('xyz', { dictionary: Buffer.from('other') })],
];
for (const [name, block] of bad) {
  test(`refused: ${name}`, async () => {
    const reader = new HeaderReader();
    await assert.rejects(reader.read(block), SpdyProtocolError);
    reader.close();
  });
}
