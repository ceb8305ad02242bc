export interface BytesTap {
  /** How many came with each piece. */
  onBytes?: (bytes: number) => void;
  /** Called once, when the bytes end, fail, or are not wanted any more. */
  onEnd?: () => void;
}

/** The same bytes, piece by piece, with somebody who is told of them as they are read. */
export function tapBytes(bytes: AsyncIterable<Uint8Array>, { onBytes, onEnd }: BytesTap): AsyncIterable<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]();
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    onEnd?.();
  };
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      try {
        const result = await source.next();
        if (result.done) end();
        else onBytes?.(result.value.byteLength);
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    return: async () => {
      end();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
