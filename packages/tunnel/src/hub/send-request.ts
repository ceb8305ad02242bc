import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { TransportRequest, TransportResponse } from '@asterism/client';
import { TunnelError } from '../tunnel-error.ts';
import { readFailure } from '../wire/failure-headers.ts';
import { checkHeaders, forwardedHeaders, gatherHeaders, headerBytes, type WireHeaders } from '../wire/headers.ts';
import { breakOff } from '../wire/session.ts';
import { messageOf } from '../wire/message-of.ts';
import { ResponseBody } from './response-body.ts';
import type { StalledBodies } from './stalled-bodies.ts';

/** What became of a request: an answer, or why there is none and whether the agent may have seen it. */
export type Delivery = { response: TransportResponse } | { failed: Error; unprocessed: boolean };

export interface SendContext {
  /** The agent, for messages. */
  name: string;
  maxHeaderBytes: number;
  stalled: StalledBodies;
  /** Each holds the request for as long as its stream is open. */
  running: readonly Set<RunningRequest>[];
  /** Why the connection ended, if it did. */
  ended: () => string | undefined;
  onReset: (cause: string) => void;
}

/** A request whose answer is not complete. */
export interface RunningRequest {
  long: boolean;
  /** Breaks it off. */
  fail(error: Error): void;
}

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
  const failure = (): Error => sourceError ?? failureOf(stream, context);

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
      body = new ResponseBody(stream, { stalled: context.stalled, failure });
      resolve({ response: { status: given[':status'] ?? 0, headers: forwardedHeaders(gatherHeaders(raw)), body } });
    });
    stream.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      for (const set of context.running) set.delete(running);
      if (stream.rstCode !== 0) context.onReset(RESET_CAUSES[stream.rstCode] ?? `code ${stream.rstCode}`);
      if (!body) resolve({ failed: failure(), unprocessed: isUnprocessed(stream) });
    });
    if (request.body !== undefined) sendBody(stream, request.body).catch(giveUp);
  });
}

function openStream(session: ClientHttp2Session, request: TransportRequest, context: SendContext): ClientHttp2Stream {
  const headers = requestHeaders(request, context);
  try {
    return session.request(headers, { endStream: request.body === undefined });
  } catch (cause) {
    throw new TunnelError('PROTOCOL', `tunnel to "${context.name}": the request cannot be sent: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function requestHeaders(request: TransportRequest, { name, maxHeaderBytes }: SendContext): WireHeaders {
  const headers = forwardedHeaders(request.headers);
  checkHeaders(headers);
  const bytes = headerBytes(headers) + Buffer.byteLength(request.path);
  if (bytes > maxHeaderBytes) {
    throw new TunnelError(
      'LIMIT',
      `tunnel to "${name}": the headers of ${request.method} take ${bytes} bytes, ${maxHeaderBytes} are the limit`,
    );
  }
  if (!/^\/[\x21-\x7e]*$/.test(request.path)) {
    throw new TunnelError('PROTOCOL', `tunnel to "${name}": not a path: ${JSON.stringify(request.path)}`);
  }
  if (request.long) headers['tunnel-long'] = '1';
  return { ...headers, ':method': request.method, ':path': request.path };
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

const RESET_CAUSES: Record<number, string> = {
  [constants.NGHTTP2_INTERNAL_ERROR]: 'broken off',
  [constants.NGHTTP2_REFUSED_STREAM]: 'refused',
  [constants.NGHTTP2_CANCEL]: 'cancelled',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'too large',
};

/** The peer has said, or this end knows, that nothing was done about it (RFC 9113 8.7). */
function isUnprocessed(stream: ClientHttp2Stream): boolean {
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined;
}

function failureOf(stream: ClientHttp2Stream, { name, ended }: SendContext): TunnelError {
  const reason = ended();
  if (reason !== undefined) return new TunnelError('LOST', `tunnel to "${name}": the connection ended (${reason})`);
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined) {
    return new TunnelError('LOST', `tunnel to "${name}": the agent takes no new requests; try again`);
  }
  if (stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) {
    return new TunnelError('LIMIT', `tunnel to "${name}": the headers of the answer or the request are too large`);
  }
  return new TunnelError('TARGET', `tunnel to "${name}": the answer broke off before its end`);
}
