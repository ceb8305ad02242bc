import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { Transport, TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';

/** A transport to a plain HTTP/1.1 server on this machine: the target of the agents under test. */
export function createHttpTarget(port: number): Transport {
  const agent = new Agent({ keepAlive: true });
  const send = (request: TransportRequest): ReturnType<typeof httpRequest> => {
    const { method, path, headers = {}, body, signal } = request;
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent, ...(signal ? { signal } : {}) });
    if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) sent.end(body);
    else {
      const source = Readable.from(body);
      source.on('error', (error) => sent.destroy(error));
      source.pipe(sent);
    }
    return sent;
  };
  const answerOf = (message: IncomingMessage): TransportResponse => {
    return { status: message.statusCode ?? 0, headers: message.headersDistinct, body: message };
  };
  const close = async (): Promise<void> => agent.destroy();
  return {
    request: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        send(request)
          .on('response', (message) => resolve(answerOf(message)))
          .on('error', reject);
      }),
    upgrade: (request) =>
      new Promise<UpgradeResponse | TransportResponse>((resolve, reject) => {
        send(request)
          .on('upgrade', (message, socket, head) => {
            if (head.length > 0) socket.unshift(head);
            const { upgrade = '', ...headers } = message.headers;
            resolve({ status: 101, headers: { ...headers, upgrade }, socket });
          })
          .on('response', (message) => resolve(answerOf(message)))
          .on('error', reject);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
