import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContextOptions, Server as TlsServer, type TLSSocket } from 'node:tls';
import { trustAnchors, trustAnchorsOnServer } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { answerStatus } from '../answer/answer.ts';
import type { ApiRequest, ApiResponse, Peer } from '../../contract/api-request.ts';
import { readPeer, readRequest, readStream } from './read-request.ts';
import { cutStream, respondStream } from './respond-stream.ts';
import { refuseUpgrade } from './upgrade.ts';
import { writeResponse } from './write-response.ts';
import { WriteTurns } from './write-turns.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** A connection without a request is closed after this. */
const KEEP_ALIVE_MS = 120_000;
/** An answer of which a client takes nothing for so long is cut off: upstream's time for a whole request. An open-ended one, later. */
const STALL_MS = 60_000;
/** Between the probes of TCP, which find out that the other end of an open watch is gone. */
const TCP_KEEP_ALIVE_MS = 60_000;
/** So many connections may be open on which nothing was asked yet, each of 60 KB: a client asks as soon as it is connected. */
const MAX_SILENT = 2_000;
/** Clients put many watches on one connection; Go's take what is offered up to 250. */
const MAX_STREAMS = 1_000;
/** What one connection and one stream may send unread: enough for any body at once. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** MB that one connection may hold in answers on their way; Node's 10 refuse streams while a few lists are sent. */
const MAX_SESSION_MEMORY = 256;
/** What TLS offers, the best first. */
const PROTOCOLS = ['h2', 'http/1.1'];
/** Of a request, as Go's server takes: a long selector stands in the path. With HTTP/2 a single header may have 64 KiB. */
const MAX_HEADER_BYTES = 1024 * 1024;
const MAX_HEADERS = 1_000;
const TOO_MANY_HEADERS = failure(431, `the request has more than ${MAX_HEADERS} headers`).status;
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
  /** A connection without a request is closed after this. Default 2 min. */
  keepAliveMs?: number;
  /** An answer of which nothing is taken for so long is cut off, an open-ended one after ten times as long. Default 60 s. */
  stallMs?: number;
  /** Of more connections on which nothing was asked yet the oldest are closed. Default 2,000. */
  maxSilent?: number;
  onError(error: unknown): void;
}

type StreamEvent = [stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]];

/** What is known of one HTTP/2 connection. */
interface SessionState {
  peer: Peer;
  turns: WriteTurns;
  /** Requests under way. */
  streams: number;
  /** Milliseconds, since when it has none. */
  idleSince: number;
}

/**
 * HTTP/1.1 and HTTP/2 over TLS on one port. HTTP/2 goes without Node's compatibility layer, which would be half of what a small
 * request costs.
 */
export class Listener {
  readonly #server: Http2SecureServer;
  readonly #options: ListenerOptions;
  #tls: ListenerOptions['tls'];
  #clientCa: string | undefined;
  readonly #stallMs: number;
  readonly #maxSilent: number;
  /** On which nothing was asked yet, the oldest first. */
  readonly #silent = new Set<Duplex | ServerHttp2Session>();
  readonly #sockets = new Set<Duplex>();
  readonly #sessions = new Map<ServerHttp2Session, SessionState>();
  readonly #peers = new WeakMap<Duplex, Peer>();
  readonly #active = new Set<Promise<void>>();
  /** Requests whose answers have not left to their end yet; those that have none are not among them. */
  #answering = 0;
  #onAnswered = (): void => {};
  #idleCheck: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const {
      clientCa,
      headersTimeoutMs = HEADERS_TIMEOUT_MS,
      keepAliveMs = KEEP_ALIVE_MS,
      stallMs = STALL_MS,
      maxSilent = MAX_SILENT,
    } = options;
    this.#tls = options.tls;
    this.#clientCa = clientCa;
    this.#stallMs = stallMs;
    this.#maxSilent = maxSilent;
    this.#server = createSecureServer({
      ...this.#secureContext(),
      allowHTTP1: true,
      // A list of protocols would be copied into a shared buffer for each connection, which then keeps 64 KB of what others were.
      ALPNCallback: ({ protocols }) => PROTOCOLS.find((ours) => protocols.includes(ours)),
      handshakeTimeout: headersTimeoutMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      maxSessionMemory: MAX_SESSION_MEMORY,
      maxHeaderListPairs: MAX_HEADERS,
      // Blanks at the end of a value are part of it, as for Go. Node would drop the header, and hand the request over without it.
      strictFieldWhitespaceValidation: false,
      ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        initialWindowSize: WINDOW_BYTES,
        maxHeaderListSize: MAX_HEADER_BYTES,
      },
    });
    trustAnchorsOnServer(this.#server);
    Object.assign(this.#server, {
      headersTimeout: headersTimeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Node would drop further headers, and hand the request over without them.
      maxHeadersCount: 0,
      requestTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    });
    this.#server.on('secureConnection', (socket) => {
      this.#track(socket);
      if (socket.alpnProtocol !== 'h2') this.#awaitRequest(socket);
    });
    // One that is still in its TLS handshake when the server stops must end too.
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.on('session', (session) => this.#begin(session));
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#run(this.#serve(request, response));
    });
    // Node serves HTTP/2 by its compatibility layer as soon as somebody listens for requests.
    this.#server.removeAllListeners('stream');
    this.#server.on('stream', (...[stream, headers, , rawHeaders]: StreamEvent) => {
      this.#run(this.#serveStream(stream, headers, rawHeaders));
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      const { handler, isIdentityHeader } = this.#options;
      if (hasTooManyHeaders(request)) return this.#run(refuseTooManyHeaders(socket));
      this.#run(handler.upgrade(readRequest(request, this.#peerOf(socket), { isIdentityHeader }), socket, head));
    });
    this.#server.on('sessionError', () => {});
    this.#server.on('tlsClientError', () => {});
    this.#idleCheck = setInterval(() => this.#closeIdle(keepAliveMs), keepAliveMs / 4);
    this.#idleCheck.unref();
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
    this.#clientCa = clientCa;
    this.#renewContext();
  }

  /** Serves another certificate from the next connection on. Open connections keep the one that they began with. */
  replaceCertificate(tls: ListenerOptions['tls']): void {
    this.#tls = tls;
    this.#renewContext();
  }

  #renewContext(): void {
    this.#server.setSecureContext(this.#secureContext());
    trustAnchorsOnServer(this.#server);
  }

  /** Without an authority of ours the system's would count. */
  #secureContext(): SecureContextOptions {
    const anchors = trustAnchors(this.#clientCa === '' ? [] : this.#clientCa);
    return { ...this.#tls, ...anchors, minVersion: 'TLSv1.2' };
  }

  /** Takes no more, says so to HTTP/2 clients, waits a moment for answers under way, and ends every connection. */
  async close(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const closed = this.#server.listening ? once(this.#server, 'close') : Promise.resolve();
    // The server's own close would cut HTTP/1.1 answers off that are written and have not left.
    TlsServer.prototype.close.call(this.#server);
    clearInterval(this.#idleCheck);
    for (const session of this.#sessions.keys()) session.close();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([Promise.allSettled(this.#active).then(() => this.#answered()), deadline]);
    for (const session of this.#sessions.keys()) session.destroy();
    await Promise.race([Promise.all([...this.#sockets].map(flushed)), deadline]);
    clearTimeout(timer);
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#stopping) response.setHeader('connection', 'close');
    const controller = new AbortController();
    let answered = false;
    const leaves = this.#awaitAnswer();
    response.once('close', () => {
      leaves();
      if (!answered) controller.abort();
    });
    const { handler, isIdentityHeader } = this.#options;
    const answer = hasTooManyHeaders(request)
      ? await answerStatus(TOO_MANY_HEADERS)
      : await handler.handle(readRequest(request, this.#peerOf(request.socket), { controller, isIdentityHeader }));
    await writeResponse(request, response, answer, this.#stallMs);
    answered = true;
    if (answer.openEnded) leaves();
  }

  async #serveStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): Promise<void> {
    stream.on('error', () => {}); // Whoever reads or writes is told by the stream's end.
    const session = stream.session as ServerHttp2Session | undefined;
    const state = session && this.#sessions.get(session);
    if (state === undefined) return;
    this.#silent.delete(session!);
    state.streams++;
    const leaves = this.#awaitAnswer();
    stream.on('close', () => {
      leaves();
      state.streams--;
      if (state.streams === 0) state.idleSince = performance.now();
    });
    const { handler, isIdentityHeader } = this.#options;
    if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
    let answered = false;
    const isAnswered = (): boolean => answered;
    const request = readStream(stream, { headers, rawHeaders }, state.peer, { isIdentityHeader, isAnswered });
    try {
      const answer = await handler.handle(request);
      await respondStream(stream, request.method, answer, { stallMs: this.#stallMs, turns: state.turns });
      answered = true;
      if (answer.openEnded) leaves();
    } catch (error) {
      cutStream(stream);
      throw error;
    }
  }

  /** What is known of the other end is read once for each connection: it costs more than a small request. */
  #begin(session: ServerHttp2Session): void {
    session.setLocalWindowSize(WINDOW_BYTES * 4);
    const peer = readPeer(session.socket as TLSSocket);
    this.#sessions.set(session, { peer, turns: new WriteTurns(), streams: 0, idleSince: performance.now() });
    session.once('close', () => this.#sessions.delete(session));
    this.#awaitRequest(session);
  }

  #awaitRequest(connection: Duplex | ServerHttp2Session): void {
    this.#silent.add(connection);
    connection.once('close', () => this.#silent.delete(connection));
    if (this.#silent.size <= this.#maxSilent) return;
    const [oldest] = this.#silent;
    this.#silent.delete(oldest!);
    oldest!.destroy();
  }

  #peerOf(socket: Duplex): Peer {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const peer = readPeer(socket as TLSSocket);
    this.#silent.delete(socket);
    this.#peers.set(socket, peer);
    return peer;
  }

  #closeIdle(keepAliveMs: number): void {
    const before = performance.now() - keepAliveMs;
    for (const [session, { streams, idleSince }] of this.#sessions) {
      if (streams > 0 || idleSince > before) continue;
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** @returns what to call when the answer has left, or is known to have no end. */
  #awaitAnswer(): () => void {
    this.#answering++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#answering--;
      if (this.#answering === 0) this.#onAnswered();
    };
  }

  /** Resolves when every answer that was given has left: what was handed to a connection is not on its way yet. */
  #answered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswered = resolve;
      if (this.#answering === 0) resolve();
    });
  }

  #run(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => this.#active.delete(tracked));
    this.#active.add(tracked);
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length / 2 > MAX_HEADERS;
}

async function refuseTooManyHeaders(socket: Duplex): Promise<void> {
  await refuseUpgrade(socket, await answerStatus(TOO_MANY_HEADERS));
}

/** Resolves when what was written to a connection has left, which takes no more then. */
async function flushed(socket: Duplex): Promise<void> {
  if (socket.writableLength > 0) await new Promise<void>((left) => socket.once('close', left).end(left));
}
