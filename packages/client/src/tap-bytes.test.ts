import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tapBytes } from './tap-bytes.ts';

/** What a tap is told, in order. */
class Told {
  readonly words: (number | 'end')[] = [];
  readonly onBytes = (bytes: number): number => this.words.push(bytes);
  readonly onEnd = (): number => this.words.push('end');
}

class Pieces {
  left = false;

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('one');
      yield Buffer.from('fourth');
    } finally {
      this.left = true;
    }
  }
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('broken');
}

describe('bytes that are tapped', () => {
  test('come through as they are, and are counted piece by piece until they end', async () => {
    const told = new Told();
    const read: string[] = [];
    for await (const piece of tapBytes(new Pieces(), told)) read.push(Buffer.from(piece).toString());
    assert.deepEqual(
      [read, told.words],
      [
        ['one', 'fourth'],
        [3, 6, 'end'],
      ],
    );
  });

  test('are not read ahead', async () => {
    const told = new Told();
    const bytes = tapBytes(new Pieces(), told)[Symbol.asyncIterator]();
    await bytes.next();
    assert.deepEqual(told.words, [3]);
  });

  test('end where they fail, and fail for their reader too', async () => {
    const told = new Told();
    const bytes = tapBytes(failing(), told)[Symbol.asyncIterator]();
    await bytes.next();
    await assert.rejects(bytes.next(), { message: 'broken' });
    assert.deepEqual(told.words, [4, 'end']);
  });

  test('end where their reader leaves, which their source is told', async () => {
    const told = new Told();
    const pieces = new Pieces();
    for await (const piece of tapBytes(pieces, told)) if (piece.length > 0) break;
    assert.deepEqual([told.words, pieces.left], [[3, 'end'], true]);
  });

  test('end once, however often the end is come upon', async () => {
    const told = new Told();
    const bytes = tapBytes(new Pieces(), told)[Symbol.asyncIterator]();
    while (!(await bytes.next()).done);
    await bytes.next();
    await bytes.return?.();
    assert.deepEqual(told.words, [3, 6, 'end']);
  });
});
