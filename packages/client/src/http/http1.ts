import type { ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortReason, unlessAborted } from '../abort.ts';
import type { Headers, TransportRequest, TransportResponse, UpgradeResponse } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import { isConnectionLost, networkError } from './network-error.ts';
import { isRead } from './replay.ts';
import type { ResponseTimer } from './response-timer.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { Agent, request: httpRequest } = process.getBuiltinModule('node:http');

/**
 * Bytes of an answer that wait here, and as many again below, when its reader stops: one record of TLS. With more, what many slow readers
 * leave lives so long that V8 moves it to where only the marking of the whole heap frees it.
 */
const READ_AHEAD = 16 * 1024;

/** HTTP/1.1 to one endpoint: connections are kept and used again; an upgrade gets one of its own. */
export class Http1Connections {
  readonly #endpoint: Endpoint;
  readonly #agent: DialAgent;
  readonly #responseTimer: ResponseTimer;
  readonly #upgraded = new Set<Socket>();

  constructor(endpoint: Endpoint, responseTimer: ResponseTimer) {
    this.#endpoint = endpoint;
    this.#agent = new DialAgent(endpoint);
    this.#responseTimer = responseTimer;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    for (;;) {
      const outgoing = httpRequest({ ...this.#options(request), agent: this.#agent });
      try {
        return toResponse(await this.#answer(outgoing, request));
      } catch (error) {
        // The server closed a kept connection just as it was used again. A read can be said twice. The next kept one may be
        // dead too; this ends at the first that is new.
        if (!outgoing.reusedSocket || !isRead(request) || !isConnectionLost(error)) throw error;
      }
    }
  }

  async upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    const { socket } = await unlessAborted(this.#endpoint.dial(['http/1.1']), request.signal);
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    const outgoing = httpRequest({ ...this.#options(request), createConnection: () => socket });
    const upgraded = new Promise<UpgradeResponse>((resolve) => {
      outgoing.once('upgrade', (response, _, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve({ status: 101, headers: response.headers, socket });
      });
    });
    return Promise.race([upgraded, this.#answer(outgoing, request, upgraded).then(toResponse)]);
  }

  get inUse(): boolean {
    return this.#upgraded.size > 0 || Object.keys(this.#agent.sockets).length > 0;
  }

  /** Ends what is idle now, and the rest as it ends. */
  drain(): void {
    this.#agent.drain();
  }

  close(): void {
    this.#agent.destroy();
    for (const socket of this.#upgraded) socket.destroy();
  }

  #options({ method, path, headers, body }: TransportRequest): ClientRequestArgs {
    const { host, basePath } = this.#endpoint;
    return { method, path: basePath + path, headers: { ...lengthOf(body, headers), ...headers, host } };
  }

  /** Sends and waits for the head of the answer; the signal stays tied to the body. */
  #answer(outgoing: ClientRequest, request: TransportRequest, until?: Promise<unknown>): Promise<IncomingMessage> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      let body: IncomingMessage | undefined;
      const onAbort = (): void => void (body ?? outgoing).destroy(abortReason(signal as AbortSignal));
      const cancelTimer = this.#responseTimer(request, (error) => outgoing.destroy(error));
      outgoing.once('response', (response) => {
        cancelTimer();
        body = response;
        response.on('error', () => {}); // surfaces where the body is read, if anywhere
        resolve(response);
      });
      outgoing.once('close', () => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
        if (!body) reject(networkError(new Error('the connection was closed'), this.#endpoint.server, 'reach'));
      });
      outgoing.on('error', (error) =>
        reject(signal?.aborted ? error : networkError(error, this.#endpoint.server, 'reach')),
      );
      if (request.admit) this.#askFirst(outgoing, request.admit, reject);
      void until?.then(cancelTimer);
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      send(outgoing, request.body);
    });
  }

  #askFirst(outgoing: ClientRequest, admit: () => void, reject: (error: Error) => void): void {
    // It comes before anything is written.
    outgoing.once('socket', () => {
      try {
        admit();
      } catch (error) {
        reject(error as Error);
        outgoing.destroy();
      }
    });
  }
}

function send(outgoing: ClientRequest, body: TransportRequest['body']): void {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    outgoing.end(body);
  } else {
    // A failure destroys the request, which reports it.
    pipeline(body instanceof Readable ? body : Readable.from(body), outgoing).catch(() => {});
  }
}

/** Node says it of itself only for methods that mostly have a body: that of a deletion would be lost. */
function lengthOf(body: TransportRequest['body'], headers: Headers = {}): Headers {
  if (body === undefined || headers['content-length'] !== undefined) return {};
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  return isWhole ? { 'content-length': String(Buffer.byteLength(body)) } : { 'transfer-encoding': 'chunked' };
}

function toResponse(response: IncomingMessage): TransportResponse {
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

/** An agent that gets its sockets from the endpoint, so that TLS is set up in one place. */
class DialAgent extends Agent {
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    super({ keepAlive: true, scheduling: 'lifo' });
    this.#endpoint = endpoint;
  }

  override createConnection(_: object, done?: (error: Error | null, socket: Duplex) => void): undefined {
    this.#endpoint.dial(['http/1.1'], { readAhead: READ_AHEAD }).then(
      ({ socket }) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as unknown as Duplex),
    );
  }

  drain(): void {
    this.maxFreeSockets = 0;
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
