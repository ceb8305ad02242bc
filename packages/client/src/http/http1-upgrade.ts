import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { abortReason } from '../abort.ts';
import type { TransportRequest, TransportResponse, UpgradeResponse } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import { networkError } from './network-error.ts';
import type { ResponseTimer } from './response-timer.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { request: httpRequest } = process.getBuiltinModule('node:http');

/**
 * Asks for an upgrade on a connection of its own. The signal stays tied to an answer's body, not to a socket that was handed over.
 * By Node's own client, which is there at once; there is one such request to a connection.
 */
export function upgradeOverHttp1(
  socket: Socket,
  request: TransportRequest,
  { server, host, basePath }: Endpoint,
  responseTimer: ResponseTimer,
): Promise<UpgradeResponse | TransportResponse> {
  const { method, path, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      method,
      path: basePath + path,
      headers: { ...headers, host },
      createConnection: () => socket,
    });
    let answer: IncomingMessage | undefined;
    const onAbort = (): void => void (answer ?? outgoing).destroy(abortReason(signal as AbortSignal));
    const cancelTimer = responseTimer(request, (error) => outgoing.destroy(error));
    outgoing.once('upgrade', (response, _, head) => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      if (head.length > 0) socket.unshift(head);
      resolve({ status: 101, headers: response.headers, socket });
    });
    outgoing.once('response', (response) => {
      cancelTimer();
      answer = response;
      response.on('error', () => {}); // surfaces where the body is read, if anywhere
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
    });
    outgoing.once('close', () => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      reject(networkError(new Error('the connection was closed'), server, 'reach'));
    });
    outgoing.on('error', (error) => reject(signal?.aborted ? error : networkError(error, server, 'reach')));
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
    // A failure destroys the request, which reports it.
    else pipeline(body, outgoing).catch(() => {});
  });
}
