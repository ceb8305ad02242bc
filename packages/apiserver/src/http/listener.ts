import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { ApiRequest, ApiResponse, Peer } from './api-request.ts';
import { readPeer, readRequest } from './read-request.ts';
import { writeResponse } from './write-response.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 120_000;
/** Clients put many watches on one connection; Go's take what is offered up to 250. */
const MAX_STREAMS = 1_000;
/** What one connection and one stream may send unread: enough for any body at once. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** MB that one connection may hold in answers on their way; Node's 10 refuse streams while a few lists are sent. */
const MAX_SESSION_MEMORY = 256;
/** How long a stop waits for answers that are under way. */
const DRAIN_MS = 500;

export interface RequestHandler {
  handle(request: ApiRequest): Promise<ApiResponse>;
  upgrade(request: ApiRequest, socket: Duplex, head: Buffer): Promise<void>;
}

export interface ListenerOptions {
  host: string;
  port: number;
  tls: { cert: string; key: string };
  /** PEM, maybe ''. Clients are asked for a certificate where it is given; one that does not chain to it counts for nothing. */
  clientCa: string | undefined;
  /** Headers by which a front proxy names the caller, in lower case; each of their values is kept apart. */
  isIdentityHeader?: ((name: string) => boolean) | undefined;
  handler: RequestHandler;
  /** A client gets this long for its TLS handshake and for the headers of a request. Default 10 s. */
  headersTimeoutMs?: number;
  onError(error: unknown): void;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/** HTTP/1.1 and HTTP/2 over TLS on one port. */
export class Listener {
  readonly #server: Http2SecureServer;
  readonly #options: ListenerOptions;
  readonly #sockets = new Set<Duplex>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #peers = new WeakMap<object, Peer>();
  readonly #active = new Set<Promise<void>>();
  #stopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { clientCa, headersTimeoutMs = HEADERS_TIMEOUT_MS } = options;
    this.#server = createSecureServer({
      ...this.#secureContext(clientCa),
      allowHTTP1: true,
      handshakeTimeout: headersTimeoutMs,
      maxSessionMemory: MAX_SESSION_MEMORY,
      ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
      settings: { maxConcurrentStreams: MAX_STREAMS, initialWindowSize: WINDOW_BYTES },
    });
    Object.assign(this.#server, {
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    });
    this.#server.on('secureConnection', (socket) => this.#track(this.#sockets, socket));
    // One that is still in its TLS handshake when the server stops must end too.
    this.#server.on('connection', (socket: Socket) => this.#track(this.#sockets, socket));
    this.#server.on('session', (session) => {
      session.setLocalWindowSize(WINDOW_BYTES * 4);
      this.#track(this.#sessions, session);
    });
    this.#server.on('request', (request, response) => this.#run(this.#serve(request, response)));
    this.#server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      const { handler, isIdentityHeader } = this.#options;
      this.#run(handler.upgrade(readRequest(request, this.#peerOf(request), { isIdentityHeader }), socket, head));
    });
    this.#server.on('sessionError', () => {});
    this.#server.on('tlsClientError', () => {});
  }

  /** Rejects where the address cannot be taken. */
  async listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#options;
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => this.#options.onError(error));
    const address = this.#server.address();
    return { host, port: typeof address === 'object' && address !== null ? address.port : port };
  }

  /** Accepts client certificates of other authorities (PEM, maybe '') from the next connection on. */
  trust(clientCa: string): void {
    this.#server.setSecureContext(this.#secureContext(clientCa));
  }

  /** Without an authority of ours the system's would count. */
  #secureContext(clientCa: string | undefined): SecureContextOptions {
    const ca = clientCa === undefined ? {} : { ca: clientCa === '' ? [] : clientCa };
    return { ...this.#options.tls, ...ca, minVersion: 'TLSv1.2' };
  }

  /** Takes no more, says so to HTTP/2 clients, waits a moment for answers under way, and ends every connection. */
  async close(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const closed = this.#server.listening ? once(this.#server, 'close') : Promise.resolve();
    this.#server.close();
    for (const session of this.#sessions) session.close();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([Promise.allSettled(this.#active), deadline]);
    clearTimeout(timer);
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: Request, response: Response): Promise<void> {
    if (this.#stopping && request.httpVersionMajor === 1) response.setHeader('connection', 'close');
    const controller = new AbortController();
    let answered = false;
    response.once('close', () => {
      if (!answered) controller.abort();
    });
    const { handler, isIdentityHeader } = this.#options;
    const { signal } = controller;
    const answer = await handler.handle(readRequest(request, this.#peerOf(request), { signal, isIdentityHeader }));
    await writeResponse(request, response, answer);
    answered = true;
  }

  /** Read once for each connection: it costs more than a small request. */
  #peerOf(request: Request): Peer {
    const connection = 'stream' in request ? request.stream.session : request.socket;
    if (connection === undefined) return {};
    const known = this.#peers.get(connection);
    if (known !== undefined) return known;
    const peer = readPeer(('socket' in connection ? connection.socket : connection) as TLSSocket);
    this.#peers.set(connection, peer);
    return peer;
  }

  #run(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => this.#active.delete(tracked));
    this.#active.add(tracked);
  }

  #track<T extends Duplex | ServerHttp2Session>(all: Set<T>, item: T): void {
    all.add(item);
    item.once('close', () => all.delete(item));
  }
}
