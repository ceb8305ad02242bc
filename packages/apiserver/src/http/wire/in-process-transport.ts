import { duplexPair, Readable } from 'node:stream';
import type { Transport, TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';
import type { UserInfo } from '../../contract/user-info.ts';
import type { ApiRequest, ApiResponse, Headers } from '../../contract/api-request.ts';
import type { RequestHandler } from './listener.ts';
import { MAX_BODY_BYTES, readBody, splitTarget } from './read-request.ts';
import { readUpgradeAnswer } from './read-upgrade-answer.ts';

const NO_BODY = new Uint8Array();

/**
 * Calls of one user within the process: a client's transport without a wire. Bodies stream as over one, and aborting a
 * request, destroying its answer's body or closing the transport ends what the server does for it.
 */
export function createInProcessTransport(handler: RequestHandler, user: UserInfo, server: string): Transport {
  const open = new Set<AbortController>();
  let closed = false;

  const start = (request: TransportRequest): { controller: AbortController; end: () => void } => {
    if (closed) throw new Error(`the transport to ${server} is closed`);
    request.signal?.throwIfAborted();
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', onAbort, { once: true });
    open.add(controller);
    const end = (): void => {
      request.signal?.removeEventListener('abort', onAbort);
      open.delete(controller);
    };
    return { controller, end };
  };

  return {
    server,
    request: async (request) => {
      const { controller, end } = start(request);
      try {
        const response = await raceAbort(handler.handle(apiRequest(request, user, controller)), controller.signal);
        return answerOf(response, controller, end);
      } catch (error) {
        end();
        throw error;
      }
    },
    upgrade: async (request) => {
      const { controller, end } = start(request);
      const [near, far] = duplexPair();
      controller.signal.addEventListener('abort', () => near.destroy(), { once: true });
      near.once('close', end);
      const answer: Promise<UpgradeResponse | TransportResponse> = readUpgradeAnswer(near);
      await handler.upgrade(apiRequest(request, user, controller), far, Buffer.alloc(0));
      return await raceAbort(answer, controller.signal);
    },
    close: () => {
      closed = true;
      for (const controller of open) controller.abort(new Error(`the transport to ${server} was closed`));
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

function apiRequest(request: TransportRequest, user: UserInfo, controller: AbortController): ApiRequest {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value;
  const { body = NO_BODY } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const whole = bytes instanceof Uint8Array && bytes.length <= MAX_BODY_BYTES ? bytes : undefined;
  let stream: Readable | undefined;
  const bodyStream = (): Readable =>
    (stream ??= Readable.from(bytes instanceof Uint8Array ? piecesOf(bytes) : bytes, { objectMode: false }));
  return {
    method: request.method,
    ...splitTarget(request.path),
    headers,
    body: () => (whole === undefined ? readBody(bodyStream()) : Promise.resolve(whole)),
    get bodyStream() {
      return bodyStream();
    },
    user,
    signal: controller.signal,
    abort: () => controller.abort(),
  };
}

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  return bytes.length === 0 ? [] : [bytes];
}

/** What a client gets. A body that is there as a whole is handed over as it is; a stream is made of it only for who asks. */
function answerOf(response: ApiResponse, controller: AbortController, end: () => void): TransportResponse {
  const { status, headers, body = NO_BODY } = response;
  if (!(body instanceof Uint8Array)) return { status, headers, body: streamOf(body, controller, end) };
  end();
  let stream: Readable | undefined;
  return {
    status,
    headers,
    bytes: body,
    get body() {
      return (stream ??= Readable.from(piecesOf(body), { objectMode: false }));
    },
  };
}

function streamOf(body: AsyncIterable<Uint8Array>, controller: AbortController, end: () => void): Readable {
  const readable = Readable.from(body, { objectMode: false });
  const onAbort = (): void => {
    const { reason } = controller.signal;
    readable.destroy(reason instanceof Error ? reason : new Error('the request was aborted'));
  };
  controller.signal.addEventListener('abort', onAbort, { once: true });
  readable.once('close', () => {
    controller.signal.removeEventListener('abort', onAbort);
    controller.abort();
    end();
  });
  return readable;
}

async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
