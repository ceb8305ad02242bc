import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { BufferCollection } from '@asterism/runtime';
import { FrameBody } from './frame-body.ts';
import { type FrameCarrier, FrameStream } from './frame-stream.ts';

const NOTHING = (): void => {};

/** A body of a call whose other end may send a megabyte; `read` are the bytes that it was given back. */
function startBody(joined?: BufferCollection) {
  let read = 0;
  const carrier: FrameCarrier = {
    roomFor: () => 0,
    queueHead: NOTHING,
    queueData: NOTHING,
    queueReset: NOTHING,
    queueCredit: NOTHING,
    onRead: (bytes) => {
      read += bytes;
    },
    window: () => 1 << 20,
    forget: NOTHING,
  };
  const stream = new FrameStream(1, { sending: 0, receiving: 1 << 20 }, carrier);
  const body = new FrameBody(stream, { onLeft: NOTHING, ...(joined ? { joined } : {}) });
  const receive = (text: string, last = false): void => body.receive(Buffer.from(text), last);
  return { body, receive, read: () => read };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what came together goes to the reader at one go, and not before all of it is here', async () => {
  const { body, receive, read } = startBody();
  const got: string[] = [];
  body.on('data', (piece: Buffer) => got.push(String(piece)));
  await turn();
  receive('one ');
  body.read(0); // As a reader does that asks for more between two pieces.
  receive('two');
  await turn();
  assert.deepEqual([got, read()], [[], 0]);
  body.pass();
  assert.deepEqual([got, read()], [['one ', 'two'], 7]);
  const ended = once(body, 'end');
  receive(' three', true);
  body.pass();
  body.pass(); // Nothing is left to say.
  await ended;
  assert.deepEqual(got.slice(2), [' three']);
});

test('a reader that stopped gets the rest, and its end, when it reads on', async () => {
  const { body, receive, read } = startBody();
  const piece = 'x'.repeat(40_000);
  receive('first');
  body.pass();
  for (let i = 0; i < 4; i += 1) receive(piece, i === 3);
  body.pass();
  await turn();
  assert.equal(read(), 0, 'nobody has read');
  assert.equal(body.backlog, 160_005);
  const pieces = await body.toArray();
  assert.deepEqual([Buffer.concat(pieces).length, read()], [160_005, 160_005]);
});

test('what a body that was left still holds may be sent anew', async () => {
  const { body, receive, read } = startBody();
  receive('unread');
  body.pass();
  body.destroy();
  body.pass();
  await once(body, 'close');
  assert.equal(read(), 6);
});

test('where each piece costs the reader, what came together is one, of a bounded size, and is counted', async () => {
  let counted = 0;
  const { body, receive } = startBody({ count: (bytes) => (counted += bytes) });
  const got: number[] = [];
  body.on('data', (piece: Buffer) => got.push(piece.length));
  await turn();
  receive('alone');
  body.pass();
  for (let i = 0; i < 5; i += 1) receive('x'.repeat(40_000), i === 4);
  body.pass();
  await once(body, 'end');
  assert.deepEqual([got, counted], [[5, 160_000, 40_000], 160_000]);
});
