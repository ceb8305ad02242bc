import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortReason } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import { isHeader } from '../header-text.ts';
import type { Headers, TransportRequest, TransportResponse } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import { Http2Body } from './http2-body.ts';
import { networkError } from './network-error.ts';
import type { ResponseTimer } from './response-timer.ts';

/** The window of the connection must grow with that of its streams. */
const CONNECTION_WINDOW = 64 * 1024 * 1024;

/** In MB. Node's default of 10 refuses streams long before the window is full. */
const SESSION_MEMORY = 128;

/** A connection without streams is closed after so many quiet PING intervals: Node keeps 100 KB for each, as for six watches. */
const IDLE_INTERVALS = 1;

/** Headers of one HTTP/1.1 hop, which HTTP/2 refuses (RFC 9113, 8.2.2). */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

export interface Http2Options {
  clock: Clock;
  connectTimeoutMs: number;
  pingIdleMs: number;
  pingTimeoutMs: number;
  maxStreams: number;
  /** How many bytes of an answer may wait here to be read. */
  streamWindow: number;
  responseTimer: ResponseTimer;
}

/** The server says that it did not begin with the request (REFUSED_STREAM, or behind a GOAWAY): it can be sent again. */
export class NotProcessedError extends ClientError {}

/**
 * One HTTP/2 connection.
 *
 * H1 It never has more streams than the server and `maxStreams` allow.
 * H2 After a GOAWAY it takes no new stream; those the server still answers run to their end.
 * H3 A peer that is silent for `pingIdleMs` + `pingTimeoutMs` is dead, also behind a GOAWAY: every stream fails.
 * H4 Without a stream it does not keep the process alive, and in time it closes.
 */
export class Http2Connection {
  readonly #endpoint: Endpoint;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #options: Http2Options;
  #streams = 0;
  #limit: number;
  #usable = true;
  #closeWhenIdle = false;
  #lastProcessed = Number.POSITIVE_INFINITY;
  #bytesRead = 0;
  #quietIntervals = 0;
  #cancelTimer: () => void = () => {};
  #failure: Error | undefined;

  /** Resolves when the server's SETTINGS are there, which also shows that somebody speaks HTTP/2 at the other end. */
  static async open(endpoint: Endpoint, socket: Socket, options: Http2Options): Promise<Http2Connection> {
    const connection = new Http2Connection(endpoint, socket, options);
    await connection.#settings();
    return connection;
  }

  private constructor(endpoint: Endpoint, socket: Socket, options: Http2Options) {
    this.#endpoint = endpoint;
    this.#socket = socket;
    this.#options = options;
    this.#limit = options.maxStreams;
    this.#session = connect(endpoint.server, {
      createConnection: () => socket,
      settings: { initialWindowSize: options.streamWindow, enablePush: false },
      maxSessionMemory: SESSION_MEMORY,
    });
    this.#session.on('error', (error) => {
      this.#failure ??= error;
      this.#usable = false;
    });
    this.#session.on('goaway', (_, lastStreamId) => {
      this.#usable = false;
      this.#lastProcessed = lastStreamId;
    });
    this.#session.on('close', () => {
      this.#usable = false;
      this.#cancelTimer();
    });
  }

  get hasRoom(): boolean {
    return this.#usable && !this.#session.closed && this.#streams < this.#limit;
  }

  /** The last stream is gone too. */
  get ended(): boolean {
    return this.#session.destroyed;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    const { signal, body } = request;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortReason(signal));
      request.admit?.();
      let stream: ClientHttp2Stream;
      const headers = this.#headers(request);
      try {
        stream = this.#session.request(headers, { endStream: body === undefined });
      } catch (cause) {
        return reject(this.#notProcessed(cause));
      }
      this.#enter();
      // Let go of with the answer, which would else be kept with all its headers for as long as the stream is open.
      let waiting: { resolve: typeof resolve; reject: typeof reject } | undefined = { resolve, reject };
      let response: Http2Body | undefined;
      const cancel = (error: Error): void => {
        waiting?.reject(error);
        if (response) response.destroy(error);
        else stream.close(constants.NGHTTP2_CANCEL);
      };
      const cancelTimer = this.#options.responseTimer(request, cancel);
      const onAbort = (): void => cancel(abortReason(signal as AbortSignal));
      signal?.addEventListener('abort', onAbort, { once: true });
      let failure: Error | undefined;
      stream.once('response', ({ ':status': status = 0, ...headers }) => {
        cancelTimer();
        response = new Http2Body(stream, () => this.#streamError(stream, failure, 'read from'));
        response.on('error', surfacesWhereRead);
        waiting?.resolve({ status, headers, body: response });
        waiting = undefined;
      });
      stream.on('error', (error) => {
        failure = error;
      });
      stream.on('close', () => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
        this.#leave();
        waiting?.reject(this.#streamError(stream, failure, 'reach'));
      });
      send(stream, body);
    });
  }

  /** Closes once the last stream has ended; new ones are still taken, so that nobody who waited for it goes empty. */
  drain(): void {
    this.#closeWhenIdle = true;
    setImmediate(() => this.#closeIfIdle());
  }

  /** Ends everything now. */
  destroy(error?: Error): void {
    this.#usable = false;
    this.#failure ??= error;
    this.#session.destroy(error);
    this.#socket.destroy();
  }

  async #settings(): Promise<void> {
    const { clock, connectTimeoutMs, maxStreams } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = clock.setTimer(
      () => reject(Object.assign(new Error(`no HTTP/2 within ${connectTimeoutMs} ms`), { code: 'ETIMEDOUT' })),
      connectTimeoutMs,
    );
    const onClose = (): void => reject(this.#failure ?? new Error('the connection was closed during its set-up'));
    this.#session.once('remoteSettings', () => resolve()).once('close', onClose);
    try {
      await promise;
    } catch (cause) {
      this.destroy();
      throw networkError(cause, this.#endpoint.server, 'reach');
    } finally {
      cancel();
      this.#session.off('close', onClose);
    }
    this.#session.setLocalWindowSize(CONNECTION_WINDOW);
    this.#limit = Math.min(maxStreams, this.#session.remoteSettings.maxConcurrentStreams ?? maxStreams);
    this.#session.on('remoteSettings', (settings) => {
      this.#limit = Math.min(maxStreams, settings.maxConcurrentStreams ?? maxStreams);
    });
    this.#session.unref();
    this.#watchForSilence();
  }

  #headers({ method, path, headers }: TransportRequest): Headers {
    const { host, basePath } = this.#endpoint;
    const all: Headers = { ':method': method, ':path': basePath + path, ':authority': host };
    // Node keeps them for as long as the stream is open; an object that members were deleted of is large.
    for (const name in headers) {
      if (HOP_HEADERS.has(name)) continue;
      const value = headers[name];
      checkHeader(name, value, host);
      all[name] = value;
    }
    return all;
  }

  #enter(): void {
    if (this.#streams++ === 0) this.#session.ref();
  }

  #leave(): void {
    if (--this.#streams > 0 || this.#session.destroyed) return;
    this.#quietIntervals = 0;
    this.#session.unref();
    if (this.#closeWhenIdle) this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (this.#streams === 0 && !this.#session.destroyed) this.#session.close();
  }

  #watchForSilence(): void {
    const { clock, pingIdleMs } = this.#options;
    this.#cancelTimer = clock.setTimer(() => this.#lookForSilence(), pingIdleMs, { background: true });
  }

  #lookForSilence(): void {
    if (this.#session.destroyed) return;
    this.#quietIntervals = this.#streams > 0 ? 0 : this.#quietIntervals + 1;
    if (this.#quietIntervals > IDLE_INTERVALS) return this.#session.close();
    if (this.#hasReceived()) return this.#watchForSilence();
    const { clock, pingIdleMs, pingTimeoutMs } = this.#options;
    const stopWaiting = clock.setTimer(
      () => {
        // An answer may stand in line behind a large body; only silence is death.
        if (this.#hasReceived()) return this.#watchForSilence();
        const message = `no answer to a PING within ${pingTimeoutMs} ms, after ${pingIdleMs} ms of silence`;
        this.destroy(Object.assign(new Error(message), { code: 'ERR_PING_TIMEOUT' }));
      },
      pingTimeoutMs,
      { background: true },
    );
    this.#cancelTimer = stopWaiting;
    this.#ask(() => {
      stopWaiting();
      if (!this.#session.destroyed) this.#watchForSilence();
    });
  }

  /** Once the server has sent a GOAWAY, Node answers a PING by itself, without sending it; SETTINGS are acknowledged all the same. */
  #ask(onAnswer: () => void): void {
    if (this.#session.closed) this.#session.settings({}, onAnswer);
    else this.#session.ping(onAnswer);
  }

  #hasReceived(): boolean {
    const before = this.#bytesRead;
    this.#bytesRead = this.#socket.bytesRead;
    return this.#bytesRead !== before;
  }

  #streamError(stream: ClientHttp2Stream, cause: Error | undefined, doing: 'reach' | 'read from'): Error {
    const refused =
      stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined || stream.id > this.#lastProcessed;
    if (refused) return this.#notProcessed(cause);
    return networkError(this.#failure ?? cause ?? new Error('the stream was closed'), this.#endpoint.server, doing);
  }

  #notProcessed(cause: unknown): NotProcessedError {
    const { server } = this.#endpoint;
    return new NotProcessedError(`${server} did not take the request`, { code: 'ERR_NOT_PROCESSED', server, cause });
  }
}

/** Throws for a header that the other end would drop or read as another one, in silence. */
function checkHeader(name: string, value: Headers[string], server: string): void {
  if (value === undefined) return;
  const isSent = typeof value === 'string' ? isHeader(name, value) : value.every((each) => isHeader(name, each));
  if (isSent) return;
  const message = `the header ${JSON.stringify(name)} cannot be sent: its name or value has a character that no header holds`;
  throw new ClientError(message, { code: 'ERR_INVALID_CHAR', server });
}

/** The error of a body is told to who reads it, if anybody. */
function surfacesWhereRead(): void {}

function send(stream: ClientHttp2Stream, body: TransportRequest['body']): void {
  if (body === undefined) return;
  if (typeof body === 'string' || body instanceof Uint8Array) stream.end(body);
  else pipeline(body instanceof Readable ? body : Readable.from(body), stream as NodeJS.WritableStream).catch(() => {}); // destroys the stream, which reports it
}
