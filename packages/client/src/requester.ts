import { parseJson } from '@asterism/machinery';
import type { Impersonation } from './connection.ts';
import { ClientError } from './client-error.ts';
import { identityHeaders } from './identity-headers.ts';
import { readBody } from './read-body.ts';
import { responseError } from './response-error.ts';
import type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from './transport.ts';

export interface RequesterOptions {
  transport: Transport;
  userAgent?: string | undefined;
  impersonate?: Impersonation | undefined;
  onWarning?: ((message: string) => void) | undefined;
}

/** Sends requests over a transport as one user agent and user, and reads the answers. */
export class Requester {
  /** For messages. */
  readonly server: string;
  readonly #transport: Transport;
  readonly #headers: Headers;
  readonly #onWarning: ((message: string) => void) | undefined;

  constructor({ transport, userAgent = 'asterism-client', impersonate, onWarning }: RequesterOptions) {
    this.server = transport.server ?? 'the server';
    this.#transport = transport;
    this.#headers = { 'user-agent': userAgent, ...(impersonate ? identityHeaders(impersonate) : {}) };
    this.#onWarning = onWarning;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.#transport.request({ ...request, headers: { ...request.headers, ...this.#headers } });
    if (this.#onWarning && response.headers['warning']) {
      for (const message of parseWarnings(response.headers['warning'])) this.#onWarning(message);
    }
    return response;
  }

  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    return this.#transport.upgrade({ ...request, headers: { ...request.headers, ...this.#headers } });
  }

  /** Rejects with a `StatusError` for 400 and more. */
  async ok(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.request(request);
    if (response.status >= 400) throw await responseError(request, response);
    return response;
  }

  /** `prepare` may change the bytes before they are parsed. */
  async json(request: TransportRequest, prepare?: (bytes: Uint8Array) => Uint8Array): Promise<unknown> {
    const accepting = { ...request, headers: { accept: 'application/json', ...request.headers } };
    return this.read(request, await this.ok(accepting), prepare);
  }

  /** Of an answer, as they came. */
  async bytes({ bytes, body }: TransportResponse, signal: AbortSignal | undefined): Promise<Buffer> {
    if (!bytes) return await readBody(body, this.server, signal);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  async read(
    request: TransportRequest,
    response: TransportResponse,
    prepare?: (bytes: Uint8Array) => Uint8Array,
  ): Promise<unknown> {
    const bytes = response.bytes ?? (await readBody(response.body, this.server, request.signal));
    return decodeAnswer(prepare ? prepare(bytes) : bytes, request);
  }
}

/** Throws `ERR_NOT_JSON`, and never quotes: the body may be a Secret. */
export function decodeAnswer(bytes: Uint8Array, request: TransportRequest): unknown {
  try {
    return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw notJson(bytes, request);
  }
}

export function notJson({ length }: Uint8Array, { method, path }: TransportRequest): ClientError {
  const what = `${method} ${path.replace(/\?.*/, '')}`;
  return new ClientError(`${what}: the answer, of ${length} bytes, is not JSON`, { code: 'ERR_NOT_JSON' });
}

/** The texts of `299 - "text"` (RFC 9111, 5.5), of which one header may hold several. */
function parseWarnings(header: string | string[]): string[] {
  const text = Array.isArray(header) ? header.join(', ') : header;
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}
