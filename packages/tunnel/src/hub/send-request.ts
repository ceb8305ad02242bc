import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { TransportRequest } from '@asterism/client';
import { TunnelError } from '../tunnel-error.ts';
import { readFailure } from '../wire/failure-headers.ts';
import { checkHeaders, forwardedHeaders, gatherHeaders } from '../wire/headers.ts';
import { messageOf } from '../wire/message-of.ts';
import { breakOff } from '../wire/session.ts';
import {
  type Delivery,
  failureOf,
  requestHeaders,
  resetCause,
  type RunningRequest,
  type SendContext,
} from './delivery.ts';
import { ResponseBody } from './response-body.ts';

/**
 * Sends one request on a session and waits for the head of its answer. An abort of its signal breaks it off.
 *
 * @throws TunnelError for a request that cannot be sent at all.
 */
export function sendRequest(
  session: ClientHttp2Session,
  request: TransportRequest,
  context: SendContext,
): Promise<Delivery> {
  const stream = openStream(session, request, context);
  const signal = request.signal;
  let sourceError: Error | undefined;
  let body: ResponseBody | undefined;
  const failure = (): Error =>
    sourceError ?? failureOf(isUnprocessed(stream) ? constants.NGHTTP2_REFUSED_STREAM : (stream.rstCode ?? 0), context);

  return new Promise((resolve) => {
    const giveUp = (error: Error): void => {
      sourceError ??= error;
      if (body) body.destroy(error);
      else breakOff(stream, error);
      resolve({ failed: error, unprocessed: false });
    };
    const onAbort = (): void => giveUp(signal?.reason as Error);
    const running: RunningRequest = { long: request.long ?? false, fail: giveUp };
    for (const set of context.running) set.add(running);
    signal?.addEventListener('abort', onAbort, { once: true });
    stream.on('error', () => {}); // The close that follows says all.
    stream.once('response', (given, _flags, raw) => {
      const failed = readFailure(gatherHeaders(raw), `tunnel to "${context.name}"`);
      if (failed) return giveUp(failed);
      const status = given[':status'] ?? 0;
      if (status < 200) {
        const why = `the agent breaks the protocol: an answer of status ${status}`;
        return giveUp(new TunnelError('PROTOCOL', `tunnel to "${context.name}": ${why}`));
      }
      body = new ResponseBody(stream, { stalled: context.stalled, failure });
      resolve({ response: { status, headers: forwardedHeaders(gatherHeaders(raw)), body } });
    });
    stream.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      for (const set of context.running) set.delete(running);
      if (stream.rstCode !== 0) context.onReset(resetCause(stream.rstCode));
      if (!body) resolve({ failed: failure(), unprocessed: isUnprocessed(stream) });
    });
    if (request.body !== undefined) sendBody(stream, request.body).catch(giveUp);
  });
}

function openStream(session: ClientHttp2Session, request: TransportRequest, context: SendContext): ClientHttp2Stream {
  const headers = requestHeaders(request, context);
  checkHeaders(headers);
  try {
    return session.request(
      { ...headers, ':method': request.method, ':path': request.path },
      { endStream: request.body === undefined },
    );
  } catch (cause) {
    throw new TunnelError('PROTOCOL', `tunnel to "${context.name}": the request cannot be sent: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Sends a body at the pace at which the other end takes it. */
async function sendBody(stream: ClientHttp2Stream, body: NonNullable<TransportRequest['body']>): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    stream.end(body);
    return;
  }
  for await (const chunk of body) {
    if (stream.destroyed || stream.writableEnded) return; // The answer came first and did not want the rest.
    if (!stream.write(chunk)) await writable(stream);
  }
  stream.end();
}

function writable(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.once('drain', done).once('close', done);
  });
}

/** The peer has said, or this end knows, that nothing was done about it (RFC 9113 8.7). */
function isUnprocessed(stream: ClientHttp2Stream): boolean {
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined;
}
