import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { ApiResponse } from './api-request.ts';

/** Belong to one connection (RFC 9110 7.6.1): a handler that passes on another server's answer may hand them in. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Writes an answer to HTTP/1.1 or HTTP/2. A streamed body is asked for its next piece only when the client has taken the
 * last; when the client leaves, the body is told so. An error in the middle of a body cuts the connection, so that no
 * client takes a part for the whole.
 */
export async function writeResponse(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  answer: ApiResponse,
): Promise<void> {
  const { body } = answer;
  if (response.destroyed || response.writableEnded) {
    if (body !== undefined && !(body instanceof Uint8Array)) await leave(body[Symbol.asyncIterator]());
    return;
  }
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!HOP_BY_HOP.has(name.toLowerCase())) response.setHeader(name, value);
  }
  if (!request.complete && request.httpVersionMajor === 1 && hasBody(request))
    response.setHeader('connection', 'close');
  if (!request.complete && request.readableFlowing === null) request.resume();
  if (body === undefined || request.method === 'HEAD') {
    if (body !== undefined && !(body instanceof Uint8Array)) await leave(body[Symbol.asyncIterator]());
    response.end();
    return;
  }
  if (body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  await stream(response, body);
}

function hasBody(request: IncomingMessage | Http2ServerRequest): boolean {
  return 'content-length' in request.headers || 'transfer-encoding' in request.headers;
}

async function stream(response: ServerResponse | Http2ServerResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  let gone = false;
  let giveUp = (): void => {};
  response.once('close', () => {
    gone = true;
    giveUp();
    leave(iterator).catch(() => {});
  });
  const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined);
      work.then(resolve, reject);
    });
  // A watch may have nothing to say for long; its client wants to know at once that it stands.
  (response as ServerResponse).flushHeaders();
  try {
    while (!gone) {
      const result = await unlessGone(iterator.next());
      if (result === undefined || result.done) break;
      if (!write(response, result.value)) await unlessGone(drained(response));
    }
    if (!gone) response.end();
  } catch (error) {
    response.destroy();
    if (!gone) throw error;
  }
}

function drained(response: ServerResponse | Http2ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('drain', resolve));
}

function write(response: ServerResponse | Http2ServerResponse, piece: Uint8Array): boolean {
  return (response as ServerResponse).write(piece);
}

async function leave(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  await iterator.return?.();
}
