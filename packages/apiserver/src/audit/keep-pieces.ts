/** The same bytes, and a copy of them for when they have all been taken; none where they are more than `limit`. */
export function keepPieces(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): { body: AsyncIterable<Uint8Array>; bytes: () => Uint8Array | undefined } {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const iterator = source[Symbol.asyncIterator]();
  const keeping: AsyncIterator<Uint8Array> = {
    next: async () => {
      const result = await iterator.next();
      if (result.done) return result;
      size += result.value.byteLength;
      if (size <= limit) pieces.push(result.value);
      else pieces.length = 0;
      return result;
    },
    return: async () => {
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return {
    body: { [Symbol.asyncIterator]: () => keeping },
    bytes: () => (size > limit ? undefined : Buffer.concat(pieces)),
  };
}
