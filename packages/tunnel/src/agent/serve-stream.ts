import { constants, type ServerHttp2Stream } from 'node:http2';
import type { TransportRequest, TransportResponse } from '@asterism/client';
import { TunnelError, type TunnelErrorReason } from '../tunnel-error.ts';
import { failureHeaders } from '../wire/failure-headers.ts';
import { checkHeaders, forwardedHeaders, headerBytes, isBodiless, isLong, type WireHeaders } from '../wire/headers.ts';
import { messageOf } from '../wire/message-of.ts';
import { breakOff } from '../wire/session.ts';
import { askTarget } from './ask-target.ts';
import type { ServeContext } from './serve-context.ts';

/**
 * Answers one stream with what the target answers. The request to the target is aborted as soon as the stream closes before
 * both its sides are at their end; a body of the target that breaks off resets the stream.
 */
export async function serveStream(
  stream: ServerHttp2Stream,
  headers: WireHeaders,
  context: ServeContext,
): Promise<void> {
  const abort = new AbortController();
  stream.on('error', () => {}); // The close that follows says all.
  stream.once('close', () => {
    if (!isComplete(stream)) abort.abort(new TunnelError('LOST', 'the caller left'));
  });
  const request = requestOf(stream, headers, abort.signal);
  const response = await askTarget(request, context);
  if ('failed' in response) return fail(stream, ...response.failed);
  respond(stream, request.method, response, context);
}

/**
 * Of a closed stream: the answer was written, and the request read, to the end. What Node says of the writable side does not tell: it
 * ends that of a stream that was reset (`aborted` is set then), and may finish it only after the close.
 */
function isComplete(stream: ServerHttp2Stream): boolean {
  const answered = !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR;
  return answered && (stream.endAfterHeaders || stream.readableEnded);
}

function requestOf(stream: ServerHttp2Stream, headers: WireHeaders, signal: AbortSignal): TransportRequest {
  return {
    method: String(headers[':method']),
    path: String(headers[':path']),
    headers: forwardedHeaders(headers),
    ...(stream.endAfterHeaders ? {} : { body: bodyOf(stream) }),
    signal,
    long: isLong(headers),
  };
}

/** The request's body. Throws when it was broken off, so that half a body is never taken for a whole one. */
async function* bodyOf(stream: ServerHttp2Stream): AsyncGenerator<Uint8Array> {
  // Left alive behind its end: the answer is still to be sent.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  if (stream.rstCode !== constants.NGHTTP2_NO_ERROR)
    throw new TunnelError('LOST', 'the request broke off before its end');
}

function respond(
  stream: ServerHttp2Stream,
  method: string,
  { status, headers, body }: TransportResponse,
  { limits }: ServeContext,
): void {
  body.on('error', (error) => breakOff(stream, error));
  stream.once('close', () => body.destroy());
  if (stream.destroyed) {
    body.destroy();
    return;
  }
  const kept = forwardedHeaders(headers);
  const bytes = headerBytes(kept);
  if (bytes > limits.maxHeaderBytes) {
    fail(
      stream,
      'LIMIT',
      `the headers of the target's answer take ${bytes} bytes, ${limits.maxHeaderBytes} are the limit`,
    );
    return;
  }
  const bodiless = isBodiless(method, status);
  try {
    checkHeaders(kept);
    stream.respond({ ...kept, ':status': status }, { endStream: bodiless });
  } catch (error) {
    fail(stream, 'TARGET', `the target's answer cannot be passed on: ${messageOf(error)}`);
    return;
  }
  if (bodiless) {
    body.resume();
    return;
  }
  body.once('close', () => {
    if (!body.readableEnded) breakOff(stream, new TunnelError('TARGET', 'the answer of the target broke off'));
  });
  // The answer is complete: what the target did not want of the request's body need not come.
  stream.once('finish', () => {
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  body.pipe(stream);
}

function fail(stream: ServerHttp2Stream, reason: TunnelErrorReason, message: string): void {
  if (stream.destroyed || stream.headersSent) return breakOff(stream, new TunnelError(reason, message));
  stream.respond({ ':status': 502, ...failureHeaders(reason, message) }, { endStream: true });
}
