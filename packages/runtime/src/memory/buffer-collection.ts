import { collectGarbage } from './collect-garbage.ts';

/** Bytes between two collections. V8 begins to mark the heap when there are a few times as many. */
const EVERY_BYTES = 8 * 1024 * 1024;

/**
 * What counts the bytes that a process passes on, and collects the buffers that they were in.
 *
 * @example {@link collectBuffers}
 */
export interface BufferCollection {
  /** So many bytes came, in buffers of their own. */
  count(bytes: number): void;
}

/**
 * For a process that passes many bytes on. Collects their buffers every 8 MB, by a minor collection of a fraction of a millisecond. By
 * itself V8 does so when its space for young *objects* is full, of which a buffer of 16 KB is a hundred bytes; before it comes to it, the
 * weight of the buffers makes it mark the whole heap, 60 times in a gigabyte, which takes more than all that is done with the bytes.
 *
 * @example
 * ```ts
 * const buffers = collectBuffers();
 * process.stdin.on('data', (chunk: Buffer) => buffers.count(chunk.length));
 * ```
 */
export function collectBuffers(collect: () => void = collectYoung): BufferCollection {
  let counted = 0;
  return {
    count(bytes) {
      counted += bytes;
      if (counted < EVERY_BYTES) return;
      counted = 0;
      // Not below what has the last of them on its stack.
      setImmediate(collect);
    },
  };
}

function collectYoung(): void {
  collectGarbage({ type: 'minor', execution: 'sync' });
}
