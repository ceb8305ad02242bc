import { parseJson } from '@asterism/machinery';
import { checkJson } from './bounded/check-json.ts';
import { ReadBudget } from './bounded/read-budget.ts';
import { LIST_LIMITS, type ListLimits, READ_LIMITS, type ReadLimits, type ReadUse } from './bounded/read-limits.ts';
import type { Clock } from './clock.ts';
import type { Impersonation } from './connection.ts';
import { ClientError } from './client-error.ts';
import { identityHeaders } from './identity-headers.ts';
import { checkLength, readLeased } from './read-body.ts';
import { responseError } from './response-error.ts';
import type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from './transport.ts';

export interface RequesterOptions {
  transport: Transport;
  userAgent?: string | undefined;
  impersonate?: Impersonation | undefined;
  onWarning?: ((message: string) => void) | undefined;
  clock?: Clock | undefined;
  readLimits?: Partial<Record<ReadUse, Partial<ReadLimits>>> | undefined;
  readBudget?: ReadBudget | undefined;
  listLimits?: ListLimits | undefined;
}

/** What is to become of an answer's bytes. */
export interface Reading {
  /** Default: those of one object. */
  use?: ReadUse | undefined;
  /** May change the bytes before they are parsed. */
  prepare?: ((bytes: Uint8Array) => Uint8Array) | undefined;
}

/** Sends requests over a transport as one user agent and user, and reads the answers. */
export class Requester {
  /** For messages. */
  readonly server: string;
  /** Of all answers that are read at the same time. */
  readonly budget: ReadBudget;
  /** Of all pages of a list together. */
  readonly listLimits: ListLimits;
  readonly #transport: Transport;
  readonly #headers: Headers;
  readonly #onWarning: ((message: string) => void) | undefined;
  readonly #clock: Clock | undefined;
  readonly #limits: NonNullable<RequesterOptions['readLimits']>;

  constructor(options: RequesterOptions) {
    const { transport, userAgent = 'asterism-client', impersonate } = options;
    this.server = transport.server ?? 'the server';
    this.budget = options.readBudget ?? new ReadBudget();
    this.listLimits = options.listLimits ?? LIST_LIMITS;
    this.#transport = transport;
    this.#headers = { 'user-agent': userAgent, ...(impersonate ? identityHeaders(impersonate) : {}) };
    this.#onWarning = options.onWarning;
    this.#clock = options.clock;
    this.#limits = options.readLimits ?? {};
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

  async json(request: TransportRequest, reading: Reading = {}): Promise<unknown> {
    const accepting = { ...request, headers: { accept: 'application/json', ...request.headers } };
    return this.read(request, await this.ok(accepting), reading);
  }

  /**
   * Gives `take` the bytes of an answer, as they came and within the limits. They count against the budget until it returns, or
   * until what it returns is settled.
   */
  async take<R>(
    response: TransportResponse,
    { use, signal }: { use: ReadUse; signal: AbortSignal | undefined },
    take: (bytes: Buffer) => R | Promise<R>,
  ): Promise<R> {
    const limits = this.limitsFor(use);
    const { bytes } = response;
    if (bytes) {
      checkLength(bytes, this.server, limits);
      return await take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    }
    using lease = this.budget.open();
    return await take(await readLeased(response.body, this.server, { limits, signal, clock: this.#clock }, lease));
  }

  read(request: TransportRequest, response: TransportResponse, reading: Reading = {}): Promise<unknown> {
    const { use = 'object', prepare } = reading;
    return this.take(response, { use, signal: request.signal }, (bytes) => {
      const prepared = prepare ? prepare(bytes) : bytes;
      this.check(prepared, use);
      return decodeAnswer(prepared, request);
    });
  }

  /** Throws where JSON has too many levels or values to be parsed. */
  check(bytes: Uint8Array, use: ReadUse): void {
    checkJson(bytes, this.server, this.limitsFor(use));
  }

  limitsFor(use: ReadUse): ReadLimits {
    const own = this.#limits[use];
    return own ? { ...READ_LIMITS[use], ...own } : READ_LIMITS[use];
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
