import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  CLOSE,
  encodeFrame,
  maskBytes,
  OPCODE,
  WebSocketFrameReader,
  WebSocketProtocolError,
  type WebSocketRole,
} from './websocket-frames.ts';

interface Message {
  text: boolean;
  data: Buffer;
}

/** What comes out of the bytes, cut at the given places: whole messages, and control frames by their opcode. */
function readAll(role: WebSocketRole, bytes: Buffer, cuts: readonly number[], maxFrameBytes?: number) {
  const reader = new WebSocketFrameReader({ role, maxFrameBytes });
  const messages: Message[] = [];
  const controls: [number, string][] = [];
  let pieces: Buffer[] = [];
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (const [index, place] of places.slice(1).entries()) {
    for (const frame of reader.read(bytes.subarray(places[index], place))) {
      if (frame.kind === 'control') controls.push([frame.opcode, frame.data.toString('hex')]);
      else {
        assert.equal(frame.start, pieces.length === 0);
        pieces.push(Buffer.from(frame.data));
        if (frame.end) messages.push({ text: frame.text, data: Buffer.concat(pieces) });
        if (frame.end) pieces = [];
      }
    }
  }
  return { messages, controls, rest: pieces };
}

const part = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom(125, 126, 127, 65_535, 65_536).map((length) => new Uint8Array(length).fill(length)),
);
const message = fc.record({
  text: fc.boolean(),
  frames: fc.array(part, { minLength: 1, maxLength: 4 }),
  between: fc.uint8Array({ maxLength: 125 }),
});

describe('WebSocket frames', () => {
  for (const role of ['client', 'server'] as const) {
    const sender: WebSocketRole = role === 'client' ? 'server' : 'client';
    test(`what a ${sender} sends arrives whole, however it is fragmented and cut`, () => {
      const property = fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat()), (sent, cuts) => {
        const bytes = sent.flatMap(({ text, frames, between }) =>
          frames.flatMap((data, index) => {
            const first = text ? OPCODE.text : OPCODE.binary;
            const more = index < frames.length - 1;
            const half = data.length >> 1;
            const parts = [data.subarray(0, half), data.subarray(half)];
            const frame = encodeFrame(index === 0 ? first : OPCODE.continuation, parts, { role: sender, more });
            return [...frame, ...encodeFrame(OPCODE.ping, [between], { role: sender })];
          }),
        );
        const { messages, controls, rest } = readAll(role, Buffer.concat(bytes), cuts);
        assert.deepEqual(
          messages,
          sent.map(({ text, frames }) => ({ text, data: Buffer.concat(frames) })),
        );
        const pings = sent.flatMap(({ frames, between }) => frames.map(() => Buffer.from(between).toString('hex')));
        assert.deepEqual(
          controls,
          pings.map((data) => [OPCODE.ping, data]),
        );
        assert.deepEqual(rest, []);
      });
      fc.assert(property, { seed: 6455, numRuns: 200 });
    });
  }

  test('bytes at random are read, or refused as a breach of the protocol: nothing else comes of them', () => {
    const property = fc.property(
      fc.uint8Array({ maxLength: 400 }),
      fc.array(fc.nat()),
      fc.boolean(),
      (bytes, cuts, server) => {
        try {
          readAll(server ? 'server' : 'client', Buffer.from(bytes), cuts);
        } catch (error) {
          assert.ok(error instanceof WebSocketProtocolError, String(error));
        }
      },
    );
    fc.assert(property, { seed: 6455, numRuns: 2_000 });
  });

  test('masking, four bytes in a step, is that of RFC 6455 at every offset and place', () => {
    const property = fc.property(
      fc.uint8Array({ maxLength: 70 }),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc.nat({ max: 9 }),
      (bytes, mask, offset) => {
        const expected = bytes.map((byte, at) => byte ^ mask[(at + offset) & 3]!);
        assert.deepEqual([...maskBytes(bytes, mask, offset)], [...expected]);
      },
    );
    fc.assert(property, { seed: 6455 });
  });

  const masked = [0x80, 0, 0, 0, 0];
  const breaches: [name: string, bytes: number[], message: RegExp, code?: number][] = [
    ['no mask', [0x82, 0], /without a mask/],
    ['an extension', [0xc2, ...masked], /extension/],
    ['an unknown opcode', [0x83, ...masked], /unknown opcode 3/],
    ['a continuation of nothing', [0x80, ...masked], /continuation of nothing/],
    ['a message within a message', [0x02, ...masked, 0x82, ...masked], /within a message/],
    ['a control frame in parts', [0x09, ...masked], /control frame/],
    ['a long control frame', [0x89, 0xfe, 0, 126, 0, 0, 0, 0], /control frame/],
    ['a frame above the limit', [0x82, 0xfe, 0x04, 0x01, 0, 0, 0, 0], /more than 1024 bytes/, CLOSE.tooBig],
    ['a frame that no number counts', [0x82, 0xff, ...Array(8).fill(0xff), 0, 0, 0, 0], /more than/, CLOSE.tooBig],
  ];
  for (const [name, bytes, pattern, code = CLOSE.protocolError] of breaches) {
    test(`a server refuses ${name}`, () => {
      const refused = (error: unknown): boolean =>
        error instanceof WebSocketProtocolError && pattern.test(error.message) && error.code === code;
      assert.throws(() => readAll('server', Buffer.from(bytes), [], 1024), refused);
    });
  }

  test('a client refuses a mask', () => {
    assert.throws(() => readAll('client', Buffer.from([0x82, ...masked]), []), /with a mask/);
  });
});
