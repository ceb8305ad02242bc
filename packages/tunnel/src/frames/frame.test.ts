import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FrameReader,
  FrameType,
  formatFrame,
  formatFrameHeader,
  formatHello,
  formatTextFrame,
  LAST,
  parseHello,
} from './frame.ts';

const HELLO = { streamWindow: 1, connectionWindow: 0xff_ff_ff_ff, maxStreams: 3 };

/** What a reader takes out of bytes that come in pieces of one size. */
function read(bytes: Buffer, size: number, maxBytes = 100): string[] {
  const taken: string[] = [];
  const reader = new FrameReader(maxBytes);
  let body = '';
  for (let at = 0; at < bytes.length; at += size) {
    reader.read(bytes.subarray(at, at + size), {
      onData: (id, piece, last) => {
        body += piece.toString();
        if (last) taken.push(`data ${id} ${body}`);
      },
      onFrame: (type, id, payload) => taken.push(`${type} ${id} ${payload.toString()}`),
    });
  }
  return taken;
}

test('frames are the same in whatever pieces they come', () => {
  const bytes = Buffer.concat([
    formatTextFrame(FrameType.head, 1, 'GET / HTTP/1.1'),
    formatFrameHeader(FrameType.data, 1, 5),
    Buffer.from('hello'),
    formatFrameHeader(FrameType.data | LAST, 1, 6),
    Buffer.from(' world'),
    formatFrameHeader(FrameType.data | LAST, 0x7f_ff_ff_ff, 0),
  ]);
  const expected = ['2 1 GET / HTTP/1.1', 'data 1 hello world', `${FrameType.data | LAST} ${0x7f_ff_ff_ff} `];
  for (const size of [1, 3, 7, 8, 9, 1_000]) assert.deepEqual(read(bytes, size), expected, `pieces of ${size}`);
});

test('a frame that is longer than allowed is refused by its header', () => {
  assert.throws(() => read(formatFrameHeader(FrameType.head, 1, 101), 100), { code: 'ERR_TUNNEL_PROTOCOL' });
  assert.deepEqual(read(formatFrameHeader(FrameType.data, 1, 101), 100), []);
});

test('HELLO says what it said, and may say more', () => {
  const payload = formatHello(HELLO).subarray(8);
  assert.deepEqual(parseHello(payload), HELLO);
  assert.deepEqual(parseHello(Buffer.concat([payload, Buffer.alloc(9)])), HELLO);
  for (const other of [
    payload.subarray(1),
    payload.subarray(0, 15),
    formatFrame(FrameType.hello, 0, 1, 2, 3, 4).subarray(8),
  ]) {
    assert.throws(() => parseHello(other), { code: 'ERR_TUNNEL_PROTOCOL' });
  }
});
