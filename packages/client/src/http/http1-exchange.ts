import { Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { abortReason } from '../abort.ts';
import type { Headers, TransportRequest, TransportResponse } from '../transport.ts';
import { networkError } from './network-error.ts';
import type { ResponseTimer } from './response-timer.ts';

/** What is not for the server: undici says these itself, and sends a body without being asked for it. */
const SAID_BY_CLIENT = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'expect'];

/** undici's code for a request that cannot be said in HTTP: nothing was sent. */
const NOT_SAID = 'UND_ERR_INVALID_ARG';

/**
 * Bytes of an answer that wait here when its reader stops, beside what its socket keeps: one record of TLS. With more, what many slow
 * readers leave lives so long that V8 moves it to where only the marking of the whole heap frees it.
 */
const READ_AHEAD = 16 * 1024;

export interface Http1ExchangeOptions {
  /** In messages. */
  server: string;
  host: string;
  basePath: string;
  responseTimer: ResponseTimer;
  /** Told once: whether the connection can carry another request, or has to be left. */
  onOver(reusable: boolean): void;
}

/** Sends over one connection; resolves with the head of the answer, with all of it where it came as a whole. */
export function exchangeOverHttp1(
  client: Client,
  request: TransportRequest,
  options: Http1ExchangeOptions,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const exchange = new Http1Exchange(request, options, resolve, reject);
    const { method, path, body = null } = request;
    const headers = { ...headersToSend(request.headers), host: options.host };
    // What can be iterated is taken by undici as it is, though its types name streams alone.
    const sent = { method, path: options.basePath + path, headers, body: body as Readable | null };
    if (!exchange.over) client.dispatch(sent, exchange);
  });
}

function headersToSend(headers: Headers = {}): Record<string, string | string[]> {
  const sent: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !SAID_BY_CLIENT.includes(name)) sent[name] = value;
  }
  return sent;
}

/** waiting for its connection → sent → answered, when the head came → over; the signal stays tied to the body. */
class Http1Exchange implements Dispatcher.DispatchHandler {
  over = false;
  readonly #request: TransportRequest;
  readonly #options: Http1ExchangeOptions;
  readonly #resolve: (response: TransportResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #cancelTimer: () => void;
  readonly #onAbort = (): void => this.#leave(abortReason(this.#request.signal as AbortSignal));
  #controller: Dispatcher.DispatchController | undefined;
  #head: { status: number; headers: Headers } | undefined;
  /** Of the body, until the answer is told. */
  #pieces: Buffer[] = [];
  #body: Http1Body | undefined;

  constructor(
    request: TransportRequest,
    options: Http1ExchangeOptions,
    resolve: (response: TransportResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#cancelTimer = options.responseTimer(request, (error) => this.#leave(error));
    const { signal } = request;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.over) return controller.abort(new Error('left'));
    try {
      this.#request.admit?.();
    } catch (error) {
      // Nothing was sent: the connection is as it was.
      this.#fail(error, true);
      throw error;
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#cancelTimer();
    this.#head = { status, headers: joined(headers) };
    // All that came with the head has been told of by then.
    queueMicrotask(() => this.#tell());
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#body) this.#pieces.push(piece);
    else if (!this.#body.push(piece)) controller.pause();
  }

  onResponseEnd(): void {
    this.#body?.push(null);
    this.#end(true);
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: NodeJS.ErrnoException): void {
    if (error.code === NOT_SAID) return this.#fail(error, true);
    this.#fail(networkError(inNodesWords(error), this.#options.server, this.#head ? 'read from' : 'reach'), false);
  }

  #tell(): void {
    if (!this.#head) return;
    const pieces = this.#pieces;
    this.#pieces = [];
    if (this.over) return this.#resolve(wholeAnswer(this.#head, pieces));
    const body = new Http1Body(
      () => this.#controller?.resume(),
      () => this.#leave(new Error('the body is not wanted')),
    );
    this.#body = body;
    let room = true;
    for (const piece of pieces) room = body.push(piece);
    if (!room) this.#controller?.pause();
    this.#resolve({ ...this.#head, body });
  }

  /** Gives it up, whatever undici has still to say of it. */
  #leave(reason: unknown): void {
    if (this.over) return;
    this.#fail(reason, false);
    this.#controller?.abort(reason as Error);
  }

  #fail(error: unknown, reusable: boolean): void {
    if (this.over) return;
    this.#head = undefined;
    this.#reject(error);
    this.#body?.destroy(error as Error);
    this.#end(reusable);
  }

  #end(reusable: boolean): void {
    if (this.over) return;
    this.over = true;
    this.#cancelTimer();
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onOver(reusable);
  }
}

/** As Node's own client has it; and what does not parse is left out, which may be anything. */
function inNodesWords(error: NodeJS.ErrnoException): Error {
  if (error.code === 'UND_ERR_SOCKET') return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  if (error.name === 'HTTPParserError') return Object.assign(new Error(error.message), { code: 'ERR_NOT_HTTP' });
  return error;
}

/** Node gives what was said twice as one text, but for cookies. */
function joined(headers: Headers): Headers {
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value) && name !== 'set-cookie') headers[name] = value.join(', ');
  }
  return headers;
}

function wholeAnswer(head: { status: number; headers: Headers }, pieces: readonly Buffer[]): TransportResponse {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  let body: Readable | undefined;
  return {
    ...head,
    bytes,
    get body() {
      return (body ??= Readable.from(bytes.length > 0 ? [bytes] : [], { objectMode: false }));
    },
  };
}

/** Of an answer that has not come as a whole. */
class Http1Body extends Readable {
  readonly #more: () => void;
  readonly #left: () => void;

  constructor(more: () => void, left: () => void) {
    super({ highWaterMark: READ_AHEAD });
    this.#more = more;
    this.#left = left;
    this.on('error', () => {}); // surfaces where it is read, if anywhere
  }

  override _read(): void {
    this.#more();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#left();
    done(error);
  }
}
