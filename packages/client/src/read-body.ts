import type { Readable } from 'node:stream';
import { networkError } from './http/network-error.ts';

/** All of a body. Rejects with a `ClientError` when it breaks off, and with the signal's reason when that aborted it. */
export async function readBody(body: Readable, server: string, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk as Buffer);
  } catch (error) {
    throw bodyError(error, server, signal);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/**
 * The lines of a body, without their ends, as bytes; an empty line is left out. What stands behind the last line end is the
 * last line. A consumer that leaves early ends the request.
 */
export async function* readLines(body: Readable, server: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        rest.push(chunk.subarray(start, end));
        const line = rest.length === 1 && rest[0] ? rest[0] : Buffer.concat(rest);
        rest = [];
        start = end + 1;
        if (line.length > 0) yield line;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
    }
  } catch (error) {
    throw bodyError(error, server, signal);
  } finally {
    body.destroy();
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

export function bodyError(error: unknown, server: string, signal: AbortSignal | undefined): unknown {
  return signal?.aborted ? signal.reason : networkError(error, server, 'read from');
}
