import type { Readable } from 'node:stream';
import { networkError } from './http/network-error.ts';
import { LineSplitter } from './line-splitter.ts';

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

/** The lines of a body, as {@link LineSplitter} has them. A consumer that leaves early ends the request. */
export async function* readLines(body: Readable, server: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const splitter = new LineSplitter(server);
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
  return signal?.aborted ? signal.reason : networkError(error, server, 'read from');
}
