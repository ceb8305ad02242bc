import { unlessAborted } from '../abort.ts';
import { type Clock, completeClock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import type { Connection } from '../connection.ts';
import { type CredentialSource, createCredentialSource, type Identity } from '../credential.ts';
import { identityHeaders } from '../identity-headers.ts';
import { ExecCredentialCache } from '../kubeconfig/exec-credential.ts';
import { parseProxyUrl } from '../proxy/parse-proxy-url.ts';
import type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from '../transport.ts';
import { createEndpoint, type Endpoint, parseServer } from './endpoint.ts';
import type { Refusals } from '../refusals.ts';
import { Http1Connections } from './http1.ts';
import { Http2Pool } from './http2-pool.ts';
import { createResponseTimer } from './response-timer.ts';

/**
 * What waits of an answer until it is read. The default of 64 KiB gives 1 MB/s at 50 ms, this as much as HTTP/1.1 does; but of a
 * hundred clusters that send their lists at once, this often as much is in memory. Of watches there are more.
 */
const SHORT_WINDOW = 1024 * 1024;
const LONG_WINDOW = 512 * 1024;

export interface TransportOptions {
  clock?: Clock | undefined;
  /** How long a connection may take until TLS and HTTP/2 are set up. Default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** How long a request that is not `long` may wait for the head of its answer. Default 90 s (the server gives up at 60). */
  responseTimeoutMs?: number | undefined;
  /** A PING goes out when nothing was received for this long. Default 30 s. */
  pingIdleMs?: number | undefined;
  /** A connection whose PING has no answer for this long is dead. Default 15 s. */
  pingTimeoutMs?: number | undefined;
  /** Streams on one connection; further ones open another. Default 100, as the API server's own limit. */
  maxStreams?: number | undefined;
  /**
   * Whether watches have connections of their own, so that a large answer delays none. Default true. A client that asks for little
   * spares its server a connection, which costs that some 100 KB.
   */
  watchesApart?: boolean | undefined;
  /** Pass one to several transports that log in by the same plugin, so that it runs once. */
  execCredentials?: ExecCredentialCache | undefined;
  /** Where a 401 to the identity in use is reported, so that it is renewed. */
  refusals?: Refusals | undefined;
}

/** A transport over sockets, whose server or identity can be replaced. */
export interface HttpTransport extends Transport {
  /** New requests use `connection` at once; what runs on the old one may end, on its own connections. */
  replaceConnection(connection: Connection): void;
}

/**
 * Opens nothing yet: connections are made as requests come, HTTP/2 where the server speaks it, kept and shared, watches apart
 * from short requests. Throws a `ClientError` when `connection` makes no sense.
 */
export function createTransport(connection: Connection, options: TransportOptions = {}): HttpTransport {
  return new PooledTransport(connection, options);
}

/** The connections of one TLS identity. */
interface Lines {
  endpoint: Endpoint;
  cert: string | undefined;
  key: string | undefined;
  short: Http2Pool;
  long: Http2Pool;
  http1: Http1Connections;
  /** Found out by the first connection. */
  speaksHttp2: boolean;
}

class PooledTransport implements HttpTransport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  #connection: Connection;
  #credential: CredentialSource;
  readonly #execCredentials: ExecCredentialCache;
  #lines: Lines | undefined;
  /** Lines of earlier identities on which something may still run. */
  #retired: Lines[] = [];
  #closed = false;

  constructor(connection: Connection, options: TransportOptions) {
    this.#options = options;
    this.#clock = completeClock(options.clock);
    this.#execCredentials = options.execCredentials ?? new ExecCredentialCache(this.#clock);
    this.#connection = connection;
    this.#credential = this.#credentialOf(connection);
  }

  get server(): string {
    return this.#connection.server;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#send(request, async (lines, prepared) => {
      if (lines.speaksHttp2) {
        const response = await (request.long || request.besideWatches ? lines.long : lines.short).request(prepared);
        if (response) return response;
        lines.speaksHttp2 = false;
      }
      return lines.http1.request(prepared);
    });
  }

  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    return this.#send<UpgradeResponse | TransportResponse>(request, (lines, prepared) => lines.http1.upgrade(prepared));
  }

  replaceConnection(connection: Connection): void {
    this.#credential = this.#credentialOf(connection);
    this.#connection = connection;
    this.#retire();
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#retire();
    for (const lines of this.#retired) {
      const error = closedError(lines.endpoint.server);
      lines.short.close(error);
      lines.long.close(error);
      lines.http1.close(error);
    }
    this.#retired = [];
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send<R extends { status: number }>(
    request: TransportRequest,
    via: (lines: Lines, prepared: TransportRequest) => Promise<R>,
  ): Promise<R> {
    for (;;) {
      const credential = this.#credential;
      const identity = await (credential.known ?? unlessAborted(credential.current(), request.signal));
      if (this.#closed) throw closedError(this.#connection.server);
      if (credential !== this.#credential) continue; // replaced meanwhile
      const headers = headersOf(request, identity, this.#connection);
      const response = await via(this.#linesFor(identity), { ...request, headers });
      if (response.status === 401) {
        await credential.refused(identity);
        if (credential === this.#credential) this.#options.refusals?.report();
      }
      return response;
    }
  }

  #linesFor({ cert, key }: Identity): Lines {
    if (this.#lines && (this.#lines.cert !== cert || this.#lines.key !== key)) this.#retire();
    this.#lines ??= this.#openLines(cert && key ? { cert, key } : {});
    return this.#lines;
  }

  #openLines(identity: Identity): Lines {
    const { connectTimeoutMs = 10_000, responseTimeoutMs = 90_000 } = this.#options;
    const { pingIdleMs = 30_000, pingTimeoutMs = 15_000, maxStreams = 100, watchesApart = true } = this.#options;
    const clock = this.#clock;
    const endpoint = createEndpoint(this.#connection, identity, { clock, timeoutMs: connectTimeoutMs });
    const responseTimer = createResponseTimer(clock, responseTimeoutMs, endpoint.server);
    const http2 = { clock, connectTimeoutMs, pingIdleMs, pingTimeoutMs, maxStreams, responseTimer };
    const short = new Http2Pool(endpoint, { ...http2, streamWindow: SHORT_WINDOW });
    return {
      endpoint,
      cert: identity.cert,
      key: identity.key,
      short,
      long: watchesApart ? new Http2Pool(endpoint, { ...http2, streamWindow: LONG_WINDOW }) : short,
      http1: new Http1Connections(endpoint, responseTimer),
      speaksHttp2: endpoint.secure,
    };
  }

  #retire(): void {
    this.#retired = this.#retired.filter((lines) => lines.short.inUse || lines.long.inUse || lines.http1.inUse);
    if (!this.#lines) return;
    this.#lines.short.drain();
    this.#lines.long.drain();
    this.#lines.http1.drain();
    this.#retired.push(this.#lines);
    this.#lines = undefined;
  }

  #credentialOf(connection: Connection): CredentialSource {
    parseServer(connection.server);
    if (connection.proxyUrl !== undefined) parseProxyUrl(connection.proxyUrl);
    return createCredentialSource(connection, this.#clock, this.#execCredentials);
  }
}

function headersOf({ headers = {} }: TransportRequest, { token }: Identity, connection: Connection): Headers {
  const all: Headers = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all[name.toLowerCase()] = value;
  if (connection.impersonate && !all['impersonate-user']) {
    Object.assign(all, identityHeaders(connection.impersonate));
  }
  if (token) all['authorization'] = `Bearer ${token}`;
  return all;
}

function closedError(server: string): ClientError {
  return new ClientError(`the transport to ${server} was closed`, { code: 'ERR_TRANSPORT_CLOSED', server });
}
