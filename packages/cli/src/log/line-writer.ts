import type { Clock } from '@asterism/client';

/** Bytes that wait while nothing can be written; lines that come then are lost. */
const MOST_WAITING = 1 << 20;
const RETRY_MS = 100;

/**
 * Writes lines at once, and never throws. While the disk is full, or the reader of a pipe is slow, lines wait: they are written with the
 * next line, or after a moment. If a pipe has no reader, its lines are lost.
 *
 * @param write returns how many bytes it wrote.
 */
export function lineWriter(write: (bytes: Uint8Array) => number, clock: Clock): (line: string) => void {
  let waiting = Buffer.alloc(0);
  let cancelRetry: (() => void) | undefined;
  const flush = (): void => {
    cancelRetry?.();
    cancelRetry = undefined;
    try {
      while (waiting.length > 0) waiting = waiting.subarray(write(waiting));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') waiting = Buffer.alloc(0);
      else cancelRetry = clock.setTimer(flush, RETRY_MS, { background: true });
    }
  };
  return (line) => {
    const bytes = Buffer.from(line);
    if (waiting.length + bytes.length <= MOST_WAITING) waiting = Buffer.concat([waiting, bytes]);
    flush();
  };
}
