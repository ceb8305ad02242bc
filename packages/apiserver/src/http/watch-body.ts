import type { WatchItem, WatchStream } from '../registry/registry.ts';

/**
 * The lines of a watch as they come; what is queued leaves in one piece. Ends when the stream does, after `timeoutMs`, or
 * when the reader leaves; then the stream is closed.
 */
export function watchBody(
  stream: WatchStream,
  options: {
    line(item: WatchItem): Buffer;
    timeoutMs: number;
    /** Told how many events leave. */
    onEvents(count: number): void;
    onEnd(): void;
  },
): AsyncIterable<Uint8Array> {
  const timer = setTimeout(() => stream.close(), options.timeoutMs);
  const source = stream[Symbol.asyncIterator]();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    stream.close();
    options.onEnd();
  };
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      try {
        const result = await source.next();
        if (result.done) {
          end();
          return { done: true, value: undefined };
        }
        const items = [result.value, ...stream.take()];
        options.onEvents(items.length);
        const lines = items.map((item) => options.line(item));
        return { done: false, value: lines.length === 1 ? lines[0]! : Buffer.concat(lines) };
      } catch (error) {
        end();
        throw error;
      }
    },
    return: () => {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
