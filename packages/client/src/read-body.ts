import type { Readable } from 'node:stream';
import type { ReadBudget, ReadLease } from './bounded/read-budget.ts';
import { type ReadLimit, ReadLimitError, refuseReading } from './bounded/read-limit-error.ts';
import { READ_LIMITS, type ReadLimits } from './bounded/read-limits.ts';
import { type Clock, systemClock } from './clock.ts';
import { networkError } from './http/network-error.ts';
import { LineSplitter } from './line-splitter.ts';

/** How a body is read. */
export interface ReadBodyOptions {
  /** Default: those of one object. */
  limits?: ReadLimits | undefined;
  signal?: AbortSignal | undefined;
  /** What the bytes count against while they are read. */
  budget?: ReadBudget | undefined;
  clock?: Clock | undefined;
}

/**
 * All of a body, which is the only way to hold one in memory. Rejects with a `ClientError` when it breaks off, with a `ReadLimitError`
 * when it has more than the limits allow, which ends the request; and with the signal's reason when that aborted it.
 *
 * @param server what sent it, for messages.
 */
export async function readBody(body: Readable, server: string, options: ReadBodyOptions = {}): Promise<Buffer> {
  using lease = options.budget?.open();
  return await readLeased(body, server, options, lease);
}

/** {@link readBody} for a caller that holds the bytes for longer: the lease is its own. */
export async function readLeased(
  body: Readable,
  server: string,
  options: ReadBodyOptions,
  lease: ReadLease | undefined,
): Promise<Buffer> {
  const { limits = READ_LIMITS.object, signal } = options;
  const chunks: Buffer[] = [];
  let length = 0;
  const watch = watchTime(body, server, options, lease);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      watch.onPiece();
      length += chunk.length;
      if (length > limits.maxBytes) throw tooLong(server, limits);
      chunks.push(chunk);
      const room = lease?.take(chunk.length);
      if (room) await room;
      watch.check();
    }
  } catch (error) {
    throw bodyError(error, server, signal);
  } finally {
    watch.stop();
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

/** The first bytes of a body, at most `limits.maxBytes`. What breaks off, or takes too long, ends there. The rest is not read. */
export async function readStart(body: Readable, server: string, options: ReadBodyOptions = {}): Promise<Buffer> {
  const { limits = READ_LIMITS.error } = options;
  const chunks: Buffer[] = [];
  let length = 0;
  const watch = watchTime(body, server, { ...options, limits }, undefined);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      watch.onPiece();
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limits.maxBytes) break;
    }
  } catch {
    // The beginning is all that is asked for.
  } finally {
    watch.stop();
  }
  return Buffer.concat(chunks).subarray(0, limits.maxBytes);
}

/** Refuses bytes that came as a whole and are too many. */
export function checkLength({ length }: Uint8Array, server: string, limits: ReadLimits): void {
  if (length > limits.maxBytes) throw tooLong(server, limits);
}

/** The lines of a body, as {@link LineSplitter} has them. A consumer that leaves early ends the request. */
export async function* readLines(
  body: Readable,
  server: string,
  { signal, budget, limits }: Omit<ReadBodyOptions, 'clock'> = {},
): AsyncGenerator<Buffer> {
  using splitter = new LineSplitter(server, { limits, budget });
  try {
    for await (const chunk of body) {
      splitter.add(chunk as Buffer);
      for (let line = splitter.next(); line; line = splitter.next()) yield line;
    }
  } catch (error) {
    throw bodyError(error, server, signal);
  } finally {
    body.destroy();
  }
  const line = splitter.last();
  if (line) yield line;
}

export function bodyError(error: unknown, server: string, signal: AbortSignal | undefined): unknown {
  if (error instanceof ReadLimitError) return error;
  return signal?.aborted ? signal.reason : networkError(error, server, 'read from');
}

function tooLong(source: string, { use, maxBytes }: ReadLimits): ReadLimitError {
  return refuseReading({ limit: 'bytes', source, use, excess: `more than ${maxBytes} bytes` });
}

interface TimeWatch {
  onPiece(): void;
  /** Throws where the time ran out while the piece waited for room. */
  check(): void;
  stop(): void;
}

/** One timer for both times: it looks when the earlier of them may be over, and then again. */
function watchTime(
  body: Readable,
  server: string,
  { limits = READ_LIMITS.object, clock = systemClock }: ReadBodyOptions,
  lease: ReadLease | undefined,
): TimeWatch {
  const { deadlineMs, idleMs, use } = limits;
  const begun = clock.monotonic();
  let heard = begun;
  let over: ReadLimitError | undefined;
  let cancel = (): void => {};
  const end = (limit: ReadLimit, excess: string): void => {
    over = refuseReading({ limit, source: server, use, excess });
    body.destroy(over);
    lease?.wake();
  };
  const look = (): void => {
    const now = clock.monotonic();
    // While it waits for room, the silence is ours.
    if (lease?.waits) heard = now;
    if (now - begun >= deadlineMs) return end('deadline', `an answer that did not end within ${deadlineMs} ms`);
    if (now - heard >= idleMs) return end('idle', `nothing for ${idleMs} ms in the middle of an answer`);
    arm(now);
  };
  const arm = (now: number): void => {
    const ms = Math.min(begun + deadlineMs - now, heard + idleMs - now);
    if (Number.isFinite(ms)) cancel = clock.setTimer(look, Math.max(1, ms), { background: true });
  };
  arm(begun);
  return {
    onPiece: () => {
      heard = clock.monotonic();
    },
    check: () => {
      if (over) throw over;
    },
    stop: () => cancel(),
  };
}
