import type { Writable } from 'node:stream';
import type { Sink } from '../../contract/sink.ts';

/** So many times as long may a watch, a log or the like go untaken: whoever reads it may pause. */
export const OPEN_ENDED_PATIENCE = 10;

/** Less than this is not worth a timer: a connection's own limits hold. */
const GUARDED_BYTES = 64 * 1024;

/**
 * Sends a body piece by piece. The next piece is asked for when the reader has taken the last; when the reader leaves, the
 * body is told so. An error in the middle cuts the answer off and rejects, so that no client takes a part for the whole.
 */
export async function pumpBody(sink: Sink, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { stream, stallMs } = sink;
  const iterator = body[Symbol.asyncIterator]();
  let gone = false;
  let giveUp = (): void => {};
  stream.once('close', () => {
    gone = true;
    giveUp();
    iterator.return?.().catch(() => {});
  });
  const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined);
      work.then(resolve, reject);
    });
  try {
    while (!gone) {
      const result = await unlessGone(iterator.next());
      if (result === undefined || result.done) break;
      if (stream.write(result.value)) continue;
      const timer = setTimeout(() => sink.cut(), stallMs);
      await unlessGone(drained(stream)).finally(() => clearTimeout(timer));
    }
    if (!gone) endBody(sink);
  } catch (error) {
    sink.cut();
    if (!gone) throw error;
  }
}

/** Sends the last bytes of an answer, or all of it, and cuts it off where they have not left in time. */
export function endBody(sink: Sink, last?: Uint8Array): void {
  const { stream, stallMs } = sink;
  if (last === undefined) stream.end();
  else stream.end(last);
  if (stream.writableFinished || stream.writableLength < GUARDED_BYTES) return;
  const timer = setTimeout(() => sink.cut(), stallMs);
  const done = (): void => clearTimeout(timer);
  stream.once('finish', done).once('close', done);
}

/** Tells a body that nobody will read it. */
export async function leaveBody(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', resolve));
}
