import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Readable } from 'node:stream';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { badRequest, failure } from '@asterism/machinery';
import type { ApiRequest, Headers, Peer } from './api-request.ts';

/** As upstream (`MaxRequestBodyBytes`). */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Of a body that is too large, this much is read before the connection is given up. */
const MAX_DROPPED_BYTES = 4 * MAX_BODY_BYTES;
/** A body that has not come whole by then is not waited for. */
const BODY_TIMEOUT_MS = 60_000;

export interface ReadOptions {
  signal?: AbortSignal;
  /** Headers (in lower case) by which somebody else names the caller; each of their values counts on its own. */
  isIdentityHeader?: ((name: string) => boolean) | undefined;
}

/** One request of the wire, in the form that the server's core knows. */
export function readRequest(
  request: IncomingMessage | Http2ServerRequest,
  peer: Peer,
  options: ReadOptions = {},
): ApiRequest {
  const { signal = new AbortController().signal, isIdentityHeader = () => false } = options;
  return {
    method: request.method ?? 'GET',
    ...splitTarget(request.url ?? '/'),
    headers: readHeaders(request, isIdentityHeader),
    body: () => readBody(request, declaredLength(request.headers['content-length'])),
    bodyStream: request,
    signal,
    peer,
  };
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
  request: IncomingMessage | Http2ServerRequest,
  isIdentityHeader: (name: string) => boolean,
): Headers {
  const namesSomebody = (name: string): boolean => name.startsWith('impersonate-') || isIdentityHeader(name);
  const headers: Headers = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (!name.startsWith(':')) headers[name] = value;
  }
  if (!Object.keys(headers).some(namesSomebody)) return headers;
  const raw = request.rawHeaders;
  const repeated: Record<string, string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (namesSomebody(name)) (repeated[name] ??= []).push(raw[at + 1]!);
  }
  return { ...headers, ...repeated };
}

function declaredLength(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' ? Number(header) : undefined;
}

/**
 * Reads a body of at most 3 MiB; rejects with 413 above that, and where it stops coming.
 *
 * A client that still sends is seldom listening: what is too much is read and dropped, up to a limit, so that it gets its
 * answer instead of a reset.
 */
export function readBody(stream: Readable, declared?: number): Promise<Uint8Array> {
  if (declared === 0) return Promise.resolve(new Uint8Array());
  if (declared !== undefined && declared > MAX_DROPPED_BYTES) return Promise.reject(tooLarge());
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
      else settle(() => resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
    };
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(badRequest('the request ended before its body was complete')));
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function tooLarge(): Error {
  return failure(413, `Request entity too large: limit is ${MAX_BODY_BYTES}`);
}

/** The other end. A certificate counts only where TLS found that it chains to our CA, is in time, and is for clients. */
export function readPeer(socket: TLSSocket): Peer {
  const address = socket.remoteAddress;
  const { subject } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  const values = (value: string | string[] | undefined): string[] => [value ?? []].flat();
  const shown = subject === undefined ? undefined : socket.getPeerX509Certificate();
  return {
    ...(address === undefined ? {} : { address }),
    ...(shown === undefined ? {} : { shown }),
    ...(subject === undefined
      ? {}
      : socket.authorized
        ? { certificate: { commonName: values(subject.CN)[0] ?? '', organizations: values(subject.O) } }
        : { certificateRefused: true }),
  };
}
