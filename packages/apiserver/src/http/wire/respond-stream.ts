import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type ApiResponse, isPushed } from '../../contract/api-request.ts';
import { isHopByHop } from './hop-by-hop.ts';
import { endBody, leaveBody, OPEN_ENDED_PATIENCE, pumpBody } from './pump-body.ts';
import type { Sink } from '../../contract/sink.ts';

/** So long after its answer has left may a request's body still come. */
const DROP_MS = 1_000;

/**
 * Writes an answer to an HTTP/2 stream; {@link pumpBody} says how a streamed body goes. A request whose body has not come
 * whole is told that nobody waits for the rest (RFC 9113 8.1).
 */
export async function respondStream(
  stream: ServerHttp2Stream,
  method: string,
  answer: ApiResponse,
  { stallMs, turns }: Pick<Sink, 'stallMs' | 'turns'>,
): Promise<void> {
  const { body } = answer;
  const streamed = body === undefined || body instanceof Uint8Array ? undefined : body;
  if (stream.destroyed || stream.closed) {
    if (streamed !== undefined) await leaveBody(streamed);
    return;
  }
  const bodiless = method === 'HEAD' || body === undefined;
  stream.respond(headersOf(answer), bodiless ? { endStream: true } : undefined);
  if (!stream.readableEnded && !stream.endAfterHeaders) dropRest(stream);
  if (bodiless) {
    if (streamed !== undefined) await leaveBody(streamed);
  } else if (streamed === undefined) {
    endBody({ stream, stallMs, cut: () => cutStream(stream) }, body as Uint8Array);
  } else {
    const patience = answer.openEnded ? OPEN_ENDED_PATIENCE : 1;
    const sink = { stream, turns, stallMs: stallMs * patience, cut: () => cutStream(stream) };
    if (isPushed(streamed)) streamed.pushTo(sink);
    else await pumpBody(sink, streamed);
  }
}

/**
 * Resets a stream, so that its reader knows that the answer is not whole; at once, though the reset may not leave. To `close` it
 * would end the answer properly first, and its reader would take it for whole.
 */
export function cutStream(stream: ServerHttp2Stream): void {
  stream.destroy(new Error('the answer was cut off'));
}

function headersOf({ status, headers }: ApiResponse): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = { ':status': status };
  for (const name in headers) if (!isHopByHop(name)) out[name.toLowerCase()] = headers[name];
  return out;
}

/**
 * Takes what still comes of a body that nobody reads. Most end by themselves; one that does not is reset, and not before the
 * end of the answer has left: a reset overtakes what waits, and then its reader has no whole answer.
 */
function dropRest(stream: ServerHttp2Stream): void {
  if (stream.readableFlowing === null) stream.resume();
  stream.once('finish', () => {
    const timer = setInterval(() => {
      if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
    }, DROP_MS);
    timer.unref();
    stream.once('close', () => clearInterval(timer));
  });
}
