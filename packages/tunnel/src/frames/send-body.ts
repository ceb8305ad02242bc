import { Readable } from 'node:stream';
import type { TransportRequest } from '@asterism/client';
import type { FrameStream } from './frame-stream.ts';

/**
 * Sends a body at the pace at which the other end takes it. A stream that closes before needs no more of it: what gives it is
 * destroyed.
 *
 * @returns what is to be called when the stream can be written to again, and when it has closed.
 */
export function sendBody(
  stream: FrameStream,
  body: NonNullable<TransportRequest['body']>,
  onError: (error: Error) => void,
): () => void {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    stream.write(typeof body === 'string' ? Buffer.from(body) : body);
    stream.end();
    return () => {};
  }
  return sendReadable(stream, body instanceof Readable ? body : Readable.from(body, { objectMode: false }), onError);
}

function sendReadable(stream: FrameStream, body: Readable, onError: (error: Error) => void): () => void {
  body.on('data', (piece: Buffer | string) => {
    if (!stream.write(typeof piece === 'string' ? Buffer.from(piece) : piece)) body.pause();
  });
  body.once('end', () => stream.end());
  const onBroken = (error: Error): void => {
    if (!stream.closed) onError(error);
  };
  body.on('error', onBroken);
  body.once('close', () => {
    if (!body.readableEnded) onBroken(new Error('the body broke off before its end'));
  });
  return () => {
    if (!stream.closed) body.resume();
    else if (!body.readableEnded) body.destroy();
  };
}

/** A body that is all there. */
export function wholeBody(bytes: Uint8Array): Readable {
  const body = new Readable({ read() {} });
  if (bytes.length > 0) body.push(bytes);
  body.push(null);
  return body;
}
