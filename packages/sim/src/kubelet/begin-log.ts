import type { ContainerRef, LogOptions, NodeBackend } from '../machine/container-runtime.ts';

/** An error comes at once; without one, a log that is quiet begins anyway. */
const QUIET_MS = 100;

/**
 * The log of a container as it comes. Rejects where there is none, so that the answer can still say so. When its reader leaves,
 * or the signal aborts, the backend's iteration ends.
 */
export async function beginLog(
  backend: NodeBackend,
  log: { ref: ContainerRef; options: LogOptions },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const left = new AbortController();
  const iterator = backend.logs(log.ref, log.options, AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]();
  const first = iterator.next();
  let timer: NodeJS.Timeout | undefined;
  const quiet = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, QUIET_MS);
  });
  try {
    await Promise.race([first, quiet]);
  } finally {
    clearTimeout(timer);
  }
  first.catch(() => {}); // Whoever reads is told; maybe nobody does.
  let pending: Promise<IteratorResult<Uint8Array>> | undefined = first;
  const read: AsyncIterator<Uint8Array> = {
    next: async () => {
      const next = pending ?? iterator.next();
      pending = undefined;
      return await next;
    },
    return: async () => {
      left.abort();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => read };
}
