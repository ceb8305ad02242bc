import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiResponse, isPushed } from '../../contract/api-request.ts';
import { isHopByHop } from './hop-by-hop.ts';
import { endBody, leaveBody, OPEN_ENDED_PATIENCE, pumpBody } from './pump-body.ts';

/**
 * Writes an answer to HTTP/1.1; {@link pumpBody} says how a streamed body goes. Where the request's own body has not come
 * whole, the connection ends with the answer.
 */
export async function writeResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ApiResponse,
  stallMs: number,
): Promise<void> {
  const { body } = answer;
  const streamed = body === undefined || body instanceof Uint8Array ? undefined : body;
  if (response.destroyed || response.writableEnded) {
    if (streamed !== undefined) await leaveBody(streamed);
    return;
  }
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!isHopByHop(name)) response.setHeader(name, value);
  }
  if (!request.complete && hasBody(request)) response.setHeader('connection', 'close');
  if (!request.complete && request.readableFlowing === null) request.resume();
  if (request.method === 'HEAD') {
    if (streamed !== undefined) await leaveBody(streamed);
    response.end();
    return;
  }
  const cut = (): void => void response.destroy();
  if (streamed === undefined) {
    endBody({ stream: response, stallMs, cut }, body as Uint8Array | undefined);
    return;
  }
  // Bytes beyond the length that was said would be read as the next answer.
  response.strictContentLength = true;
  // A watch may have nothing to say for long; its client wants to know at once that it stands.
  response.flushHeaders();
  const patience = answer.openEnded ? OPEN_ENDED_PATIENCE : 1;
  const sink = { stream: response, stallMs: stallMs * patience, cut };
  if (isPushed(streamed)) streamed.pushTo(sink);
  else await pumpBody(sink, streamed);
}

function hasBody(request: IncomingMessage): boolean {
  return 'content-length' in request.headers || 'transfer-encoding' in request.headers;
}
