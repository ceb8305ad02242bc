import type { KubeObject, ResourceType } from '@asterism/machinery';
import { type Clock, systemClock } from './clock.ts';
import type { Impersonation } from './connection.ts';
import { createDiscovery } from './discover/create-discovery.ts';
import type { Discovery } from './discover/discovery.ts';
import { HttpResourceClient } from './http-resource-client.ts';
import { Requester } from './requester.ts';
import type { ResourceClient } from './resource-client.ts';
import type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from './transport.ts';

export interface ClientOptions {
  transport: Transport;
  /** `User-Agent`; the server's default field manager is its part before the first `/`. */
  userAgent?: string | undefined;
  /** The field manager of writes that name none. */
  fieldManager?: string | undefined;
  impersonate?: Impersonation | undefined;
  /** Told of each `Warning` header (deprecated versions, unknown fields): the text alone. */
  onWarning?: ((message: string) => void) | undefined;
  clock?: Clock | undefined;
}

export interface ServerVersion {
  major: string;
  minor: string;
  gitVersion: string;
  [field: string]: unknown;
}

export interface GetJsonOptions {
  signal?: AbortSignal | undefined;
  /** An `accept` among them asks for another form than plain JSON, such as a Table. */
  headers?: Headers | undefined;
}

export interface Client {
  readonly transport: Transport;
  readonly discovery: Discovery;
  resource<T extends KubeObject>(type: ResourceType<T>): ResourceClient<T>;
  /** GET, parsed. For what is not a resource (`/openapi/v3`, `/healthz?verbose` is not JSON and needs `request`). */
  getJson(path: string, options?: GetJsonOptions): Promise<unknown>;
  /** Any request, with this client's identity and user agent. An answer of any status resolves. */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** An HTTP/1.1 Upgrade, likewise: see {@link Transport.upgrade}. For commands and ports of pods there are `openExec` and others. */
  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse>;
  version(options?: { signal?: AbortSignal | undefined }): Promise<ServerVersion>;
  /** The same connection as somebody else. */
  impersonating(user: Impersonation): Client;
  /** The same identity and settings over another transport, made of this one: to count requests, or to log them. */
  through(wrap: (transport: Transport) => Transport): Client;
}

/** A client is light: it holds the transport, not connections of its own, and need not be closed. */
export function createClient(options: ClientOptions): Client {
  return new TransportClient(options);
}

class TransportClient implements Client {
  readonly transport: Transport;
  readonly discovery: Discovery;
  readonly #options: ClientOptions;
  readonly #requester: Requester;

  constructor(options: ClientOptions) {
    this.transport = options.transport;
    this.#options = options;
    this.#requester = new Requester(options);
    this.discovery = createDiscovery(this.#requester, options.clock ?? systemClock);
  }

  resource<T extends KubeObject>(type: ResourceType<T>): ResourceClient<T> {
    return new HttpResourceClient(type, this.#requester, this.#options.fieldManager);
  }

  async getJson(path: string, options: GetJsonOptions = {}): Promise<unknown> {
    return this.#requester.json({ method: 'GET', path, ...options });
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#requester.request(request);
  }

  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    return this.#requester.upgrade(request);
  }

  async version(options: { signal?: AbortSignal | undefined } = {}): Promise<ServerVersion> {
    const request = { method: 'GET', path: '/version', besideWatches: true, ...options };
    return (await this.#requester.json(request)) as ServerVersion;
  }

  impersonating(impersonate: Impersonation): Client {
    return new TransportClient({ ...this.#options, impersonate });
  }

  through(wrap: (transport: Transport) => Transport): Client {
    return new TransportClient({ ...this.#options, transport: wrap(this.transport) });
  }
}
