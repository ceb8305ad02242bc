import type { Readable } from 'node:stream';

/** So long may a body that has all of its bytes take to end, ms. */
const END_MS = 1_000;

/**
 * The bytes of a body that must have `length` of them. Ends as soon as they are there, whatever else comes; rejects with what `fault`
 * makes where they are fewer, or where more come with the last of them.
 */
export function exactBytes(
  body: Readable,
  length: number,
  fault: (length: number) => Error,
): AsyncIterable<Uint8Array> {
  const source = iteratorOf(body);
  let left = length;
  let over = false;
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    if (left === 0) {
      if (!over) leaveSoon(body, source);
      over = true;
      return { done: true, value: undefined };
    }
    const result = await source.next();
    if (result.done) throw fault(length);
    if (result.value.byteLength > left) {
      body.destroy();
      throw fault(length);
    }
    left -= result.value.byteLength;
    return result;
  };
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    await source.return?.();
    return { done: true, value: undefined };
  };
  const iterator: AsyncIterator<Uint8Array> = { next, return: leave };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Lets a body end by itself, so that its connection can be used again, and destroys one that goes on. */
export function leaveSoon(body: Readable, source: AsyncIterator<Uint8Array> = iteratorOf(body)): void {
  const timer = setTimeout(() => body.destroy(), END_MS);
  timer.unref();
  const leave = (): void => {
    clearTimeout(timer);
    body.destroy();
  };
  source.next().then(({ done }) => (done ? clearTimeout(timer) : leave()), leave);
}

function iteratorOf(body: Readable): AsyncIterator<Uint8Array> {
  return body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
}
