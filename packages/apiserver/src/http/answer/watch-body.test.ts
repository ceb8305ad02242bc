import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import type { WatchItem } from '../../registry/registry.ts';
import { WatchQueue } from '../../registry/watch-queue.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import { EncodedWatchItem } from '../../registry/watch-item.ts';
import { WatchBody } from './watch-body.ts';
import { WriteTurns } from '../wire/write-turns.ts';

const item = (name: string): WatchItem =>
  new EncodedWatchItem('ADDED', new StoredObject(Buffer.from(JSON.stringify({ name })), 1));

/** A watch that is pushed to a reader, who takes a piece when `take` is called, or at once where he is `eager`. */
function watch({
  eager = true,
  limit = 10,
  timeoutMs = 60_000,
  stallMs = 60_000,
  backlog = [] as WatchItem[],
  turns = new WriteTurns(),
} = {}) {
  const pieces: string[] = [];
  const waiting: (() => void)[] = [];
  let cuts = 0;
  let ends = 0;
  let closed = 0;
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _, done) {
      pieces.push(piece.toString());
      if (eager) done();
      else waiting.push(done);
    },
  });
  const queue = new WatchQueue({ limit, backlog, onClose: () => closed++ });
  const body = new WatchBody(queue, { line: (each) => each.line(), timeoutMs, onEvents: () => {} });
  body.onEnd(() => ends++);
  const cut = (): void => {
    cuts++;
    stream.destroy();
  };
  body.pushTo({ stream, turns, stallMs, cut });
  const names = (): string[][] => pieces.map((piece) => piece.match(/(?<="name":")[^"]*/g) ?? []);
  return { queue, stream, names, take: () => waiting.shift()?.(), counts: () => ({ cuts, ends, closed }) };
}

/** Lets what was queued leave. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a watch that brings its lines by itself', () => {
  test('sends what it begins with, and then what comes, as much as there is at once', async () => {
    const { queue, names, stream } = watch({ backlog: [item('a'), item('b')] });
    await turn();
    for (const name of ['c', 'd']) queue.push(item(name));
    await turn();
    queue.push(item('e'));
    await turn();
    assert.deepEqual(names(), [['a', 'b'], ['c', 'd'], ['e']]);
    stream.destroy();
  });

  test('sends no more while a piece lies untaken, and then all that has come since', async () => {
    const { queue, names, take, stream } = watch({ eager: false });
    for (const name of ['a', 'b', 'c']) {
      queue.push(item(name));
      await turn();
    }
    assert.deepEqual(names(), [['a']]);
    take();
    await turn();
    assert.deepEqual(names(), [['a'], ['b', 'c']]);
    stream.destroy();
  });

  test('puts no more together than a reader may leave untaken', async () => {
    const names300 = Array.from({ length: 300 }, (_, i) => `${i}-${'x'.repeat(1000)}`);
    const { names: sent, take, stream } = watch({ eager: false, backlog: names300.map(item) });
    await turn();
    assert.equal(sent().length, 1);
    assert.ok(sent()[0]!.length > 10 && sent()[0]!.length < 65, `${sent()[0]!.length} lines`);
    while (sent().flat().length < 300) {
      take();
      await turn();
    }
    assert.deepEqual(sent().flat(), names300);
    stream.destroy();
  });

  test('may be given a time that no timer takes', async () => {
    const { queue, names: sent, stream, counts } = watch({ timeoutMs: 2 ** 40 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    queue.push(item('a'));
    await turn();
    assert.deepEqual(sent(), [['a']]);
    assert.equal(counts().ends, 0);
    stream.destroy();
  });

  test('waits where other streams of its connection have written much in this turn', async () => {
    const turns = new WriteTurns();
    turns.spend(1024 * 1024);
    const { queue, names, stream } = watch({ turns, backlog: [item('a')] });
    queue.push(item('b'));
    await Promise.resolve().then(() => {});
    assert.deepEqual(names(), []);
    await turn();
    await turn();
    assert.deepEqual(names(), [['a'], ['b']]);
    stream.destroy();
  });

  test('tells its connection what it writes', async () => {
    const turns = new WriteTurns();
    const { queue, stream } = watch({ turns });
    queue.push(item('x'.repeat(200_000)));
    await Promise.resolve().then(() => {});
    assert.equal(turns.open, false);
    stream.destroy();
  });

  test('is cut off when a piece lies untaken for too long', async () => {
    const { queue, stream, counts } = watch({ eager: false, stallMs: 20 });
    queue.push(item('a'));
    await once(stream, 'close');
    assert.deepEqual(counts(), { cuts: 1, ends: 1, closed: 1 });
  });

  test('ends behind what waits, when its reader does not keep up', async () => {
    const { queue, names, take, stream } = watch({ eager: false, limit: 2 });
    for (const name of ['a', 'b', 'c', 'd']) {
      queue.push(item(name));
      await turn();
    }
    const finished = once(stream, 'finish');
    take();
    await turn();
    take();
    await finished;
    assert.deepEqual(names(), [['a'], ['b', 'c']]);
  });

  for (const [name, end] of [
    ['its reader leaves', ({ stream }: ReturnType<typeof watch>) => void stream.destroy()],
    ['the server ends it', ({ queue }: ReturnType<typeof watch>) => queue.close()],
  ] as const) {
    test(`lets go of everything when ${name}`, async () => {
      const running = watch();
      end(running);
      await turn();
      await turn();
      assert.deepEqual(running.counts(), { cuts: 0, ends: 1, closed: 1 });
    });
  }

  test('ends after its time', async () => {
    const { stream, counts } = watch({ timeoutMs: 10 });
    await once(stream, 'finish');
    assert.deepEqual(counts(), { cuts: 0, ends: 1, closed: 1 });
  });
});
