import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { IncomingHttpHeaders as IncomingHttp2Headers, ServerHttp2Stream } from 'node:http2';
import { PassThrough, type Readable } from 'node:stream';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { badRequest, failure } from '@asterism/machinery';
import { readClientCertificate } from '../../contract/client-certificate.ts';
import type { ApiRequest, Headers, Peer } from '../../contract/api-request.ts';

/** As upstream (`MaxRequestBodyBytes`). */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Of a body that is too large, this much is read before the connection is given up. */
const MAX_DROPPED_BYTES = 4 * MAX_BODY_BYTES;
/** A body that has not come whole by then is not waited for. */
const BODY_TIMEOUT_MS = 60_000;

export interface ReadOptions {
  /** Aborts when the caller is gone. */
  controller?: AbortController;
  /** Headers (in lower case) by which somebody else names the caller; each of their values counts on its own. */
  isIdentityHeader?: ((name: string) => boolean) | undefined;
}

/** One HTTP/1.1 request, in the form that the server's core knows. */
export function readRequest(request: IncomingMessage, peer: Peer, options: ReadOptions = {}): ApiRequest {
  const { controller = new AbortController(), isIdentityHeader } = options;
  return {
    method: request.method ?? 'GET',
    ...splitTarget(request.url ?? '/'),
    headers: readHeaders(request.headers, request.rawHeaders, isIdentityHeader),
    body: () => readBody(request, declaredLength(request.headers)),
    bodyStream: request,
    signal: controller.signal,
    abort: () => controller.abort(),
    peer,
  };
}

/** One HTTP/2 request. What few handlers ask for, the signal and the body as a stream, is made when it is asked for. */
export function readStream(
  stream: ServerHttp2Stream,
  { headers, rawHeaders }: { headers: IncomingHttp2Headers; rawHeaders: readonly string[] },
  peer: Peer,
  { isIdentityHeader, isAnswered }: Pick<ReadOptions, 'isIdentityHeader'> & { isAnswered: () => boolean },
): ApiRequest {
  const life = new StreamLife(stream, isAnswered);
  let bodyStream: Readable | undefined;
  return {
    method: headers[':method'] ?? 'GET',
    ...splitTarget(headers[':path'] ?? '/'),
    headers: readHeaders(headers, rawHeaders, isIdentityHeader),
    body: () => (stream.endAfterHeaders ? NO_BODY : readBody(stream, declaredLength(headers), () => isWhole(stream))),
    get bodyStream() {
      return (bodyStream ??= detachedBody(stream));
    },
    get signal() {
      return life.signal;
    },
    abort: life.abort,
    peer,
  };
}

const NO_BODY = Promise.resolve(new Uint8Array());

/** Aborts when the stream ends before its answer does. Apart from the request, which a watch need not hold for as long as it lasts. */
class StreamLife {
  readonly #stream: ServerHttp2Stream;
  readonly #isAnswered: () => boolean;
  #controller: AbortController | undefined;

  constructor(stream: ServerHttp2Stream, isAnswered: () => boolean) {
    this.#stream = stream;
    this.#isAnswered = isAnswered;
  }

  readonly abort = (): void => this.#made().abort();

  get signal(): AbortSignal {
    return this.#made().signal;
  }

  #made(): AbortController {
    if (this.#controller !== undefined) return this.#controller;
    this.#controller = new AbortController();
    if (this.#stream.closed || this.#stream.destroyed) this.#onClose();
    else this.#stream.on('close', () => this.#onClose());
    return this.#controller;
  }

  #onClose(): void {
    if (!this.#isAnswered()) this.#controller?.abort();
  }
}

/** A stream's incoming side alone: whoever destroys it does not take the answer with it. */
function detachedBody(stream: ServerHttp2Stream): Readable {
  const body = new PassThrough();
  body.on('error', () => {}); // Whoever reads it is told, if anybody still does.
  const end = (): void => {
    if (stream.readableEnded && isWhole(stream)) body.end();
    else body.destroy(cutShort());
  };
  if (stream.readableEnded) end();
  else stream.once('end', end).once('close', end).pipe(body, { end: false });
  return body;
}

/** A stream that either side has given up ends as if it were complete. */
function isWhole(stream: ServerHttp2Stream): boolean {
  return !stream.aborted && !stream.closed;
}

function cutShort(): Error {
  return badRequest('the request ended before its body was complete');
}

/** Path and query of a request's target, the path as it came: not even `..` is resolved. */
export function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  const query = new URLSearchParams(question < 0 ? '' : target.slice(question + 1));
  return { path: path.startsWith('/') ? path : `/${path}`, query };
}

/** Node joins repeated headers by commas; values that name somebody may have commas of their own and are kept apart. */
function readHeaders(
  all: IncomingHttpHeaders,
  raw: readonly string[],
  isIdentityHeader: ReadOptions['isIdentityHeader'],
): Headers {
  const namesSomebody = (name: string): boolean =>
    name.startsWith('impersonate-') || (isIdentityHeader?.(name) ?? false);
  const headers: Headers = {};
  let names = false;
  for (const name in all) {
    if (name.startsWith(':')) continue;
    headers[name] = all[name];
    names ||= namesSomebody(name);
  }
  if (!names) return headers;
  const repeated: Record<string, string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (namesSomebody(name)) (repeated[name] ??= []).push(raw[at + 1]!);
  }
  return { ...headers, ...repeated };
}

function declaredLength({ 'content-length': header }: IncomingHttpHeaders): number | undefined {
  return header === undefined ? undefined : Number(header);
}

/**
 * Reads a body of at most 3 MiB; rejects with 413 above that, and where it stops coming.
 *
 * A client that still sends is seldom listening: what is too much is read and dropped, up to a limit, so that it gets its
 * answer instead of a reset.
 */
export function readBody(stream: Readable, declared?: number, isWhole = (): boolean => true): Promise<Uint8Array> {
  if (declared === 0) return Promise.resolve(new Uint8Array());
  if (declared !== undefined && declared > MAX_DROPPED_BYTES) return Promise.reject(tooLarge());
  // An empty one ends by itself, before anybody reads it.
  if (stream.readableEnded) return isWhole() ? Promise.resolve(new Uint8Array()) : Promise.reject(cutShort());
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      stream.destroy(new Error(`the body did not come within ${BODY_TIMEOUT_MS / 1000} s`));
    }, BODY_TIMEOUT_MS);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      act();
    };
    const onData = (piece: Buffer): void => {
      size += piece.length;
      if (size <= MAX_BODY_BYTES) pieces.push(piece);
      else pieces = [];
      if (size > MAX_DROPPED_BYTES) settle(() => reject(tooLarge()));
    };
    const onEnd = (): void => {
      if (size > MAX_BODY_BYTES) settle(() => reject(tooLarge()));
      else if (!isWhole()) settle(() => reject(cutShort()));
      else settle(() => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    };
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(cutShort()));
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function tooLarge(): Error {
  return failure(413, `Request entity too large: limit is ${MAX_BODY_BYTES}`);
}

/** The other end. A certificate counts only where TLS found that it chains to our CA, is in time, and is for clients. */
export function readPeer(socket: TLSSocket): Peer {
  const address = socket.remoteAddress;
  const told = socket.getPeerCertificate() as Partial<PeerCertificate>;
  const at = address === undefined ? {} : { address };
  if (told.subject === undefined) return at;
  const shown = socket.getPeerX509Certificate();
  const certificate = socket.authorized ? readClientCertificate(told) : undefined;
  return {
    ...at,
    ...(shown === undefined ? {} : { shown }),
    ...(certificate === undefined ? { certificateRefused: true } : { certificate }),
  };
}
