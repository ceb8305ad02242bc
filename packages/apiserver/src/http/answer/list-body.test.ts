import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { StoredObject } from '../../storage/stored-object.ts';
import { type ListShape, listBody, type PiecedBody } from './list-body.ts';

const HEAD = '{"kind":"PodList","items":[';
const object = (name: string, size = 0) => ({ apiVersion: 'v1', kind: 'Pod', name, text: 'x'.repeat(size) });
const stored = (name: string, size = 0): StoredObject => {
  const { apiVersion, kind, ...rest } = object(name, size);
  return new StoredObject(Buffer.from(JSON.stringify({ kind, apiVersion, ...rest })), 1);
};
const BARE: ListShape = {
  head: HEAD,
  opening: '{',
  item: ({ bytes }) => bytes,
  startOf: ({ bareStart }) => bareStart,
};
const WHOLE: ListShape = { head: HEAD, opening: '', item: ({ bytes }) => bytes, startOf: () => 0 };
const MADE: ListShape = { head: HEAD, opening: '', item: ({ bytes }) => Buffer.from(bytes) };

/** A reader that takes each piece a moment later, so that one whose bytes changed meanwhile would show. */
function reader() {
  const pieces: string[] = [];
  const buffers = new Set<ArrayBufferLike>();
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _, done) {
      buffers.add(piece.buffer);
      setImmediate(() => {
        pieces.push(piece.toString());
        done();
      });
    },
  });
  return { pieces, buffers, stream };
}

async function pushed({ pieces }: PiecedBody) {
  const { stream, ...read } = reader();
  let ends = 0;
  pieces.onEnd(() => ends++);
  pieces.pushTo({ stream, stallMs: 60_000, cut: () => stream.destroy() });
  await once(stream, 'close');
  return { ...read, ends };
}

async function iterated({ pieces }: PiecedBody): Promise<string[]> {
  const read: string[] = [];
  for await (const piece of pieces) read.push(Buffer.from(piece).toString());
  return read;
}

describe('a list as bytes', () => {
  const many = Array.from({ length: 60 }, (_, index) => stored(`pod-${index}`, 5_000));
  const cases: { name: string; items: StoredObject[]; shape: ListShape; pieces: number }[] = [
    { name: 'empty', items: [], shape: BARE, pieces: 1 },
    { name: 'small', items: [stored('a'), stored('b')], shape: WHOLE, pieces: 1 },
    { name: 'small, without kind and apiVersion', items: [stored('a'), stored('b')], shape: BARE, pieces: 1 },
    { name: 'of many items', items: many, shape: WHOLE, pieces: 5 },
    { name: 'of many items, without kind and apiVersion', items: many, shape: BARE, pieces: 5 },
    { name: 'of many items that are made', items: many, shape: MADE, pieces: 5 },
    {
      name: 'with an item that is larger than a piece',
      items: [stored('a'), stored('b', 100_000), stored('c')],
      shape: WHOLE,
      pieces: 3,
    },
  ];
  for (const { name, items, shape, pieces } of cases) {
    test(`${name}: pushed and iterated, the same bytes, and as many as were told`, async () => {
      const expected = items.map(({ bytes }) => JSON.parse(bytes.toString()) as Record<string, unknown>);
      if (shape === BARE) for (const each of expected) for (const key of ['kind', 'apiVersion']) delete each[key];
      const push = await pushed(listBody(items, shape));
      const iterate = await iterated(listBody(items, shape));
      const { length } = listBody(items, shape);
      for (const read of [push.pieces, iterate]) {
        assert.equal(read.length, pieces);
        assert.deepEqual(JSON.parse(read.join('')), { kind: 'PodList', items: expected });
        assert.equal(Buffer.byteLength(read.join('')), length);
      }
      assert.equal(push.ends, 1);
    });
  }

  test('pushed, its pieces are made in one buffer', async () => {
    const { buffers, pieces } = await pushed(listBody(many, WHOLE));
    assert.ok(pieces.length > 2);
    assert.equal(buffers.size, 1);
  });

  const left: { name: string; leave: (body: PiecedBody) => Promise<unknown> }[] = [
    { name: 'before it was read', leave: async ({ pieces }) => await pieces[Symbol.asyncIterator]().return?.() },
    {
      name: 'while it was read',
      leave: async ({ pieces }) => {
        for await (const _ of pieces) break;
      },
    },
    {
      name: 'while it was pushed',
      leave: async ({ pieces }) => {
        const stream = new Writable({ write: () => {} });
        pieces.pushTo({ stream, stallMs: 60_000, cut: () => {} });
        stream.destroy();
        await once(stream, 'close');
      },
    },
    {
      name: 'by one who takes nothing, and is cut off',
      leave: async ({ pieces }) => {
        const stream = new Writable({ write: () => {} });
        pieces.pushTo({ stream, stallMs: 20, cut: () => stream.destroy() });
        await once(stream, 'close');
      },
    },
  ];
  for (const { name, leave } of left) {
    test(`tells its end once when it is left ${name}`, async () => {
      const body = listBody(many, WHOLE);
      let ends = 0;
      body.pieces.onEnd(() => ends++);
      await leave(body);
      assert.equal(ends, 1);
    });
  }
});
