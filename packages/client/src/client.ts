import type { KubeObject, ResourceType } from '@asterism/machinery';
import { type Clock, systemClock } from './clock.ts';
import { ReadBudget } from './bounded/read-budget.ts';
import type { ListLimits, ReadLimits, ReadUse } from './bounded/read-limits.ts';
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
  /** In place of the defaults, which are meant for servers that nobody vouches for. */
  readLimits?: Partial<Record<ReadUse, Partial<ReadLimits>>> | undefined;
  /** Bytes of answers that are in memory at the same time. Clients that are made of this one share them. */
  readBudgetBytes?: number | undefined;
  /** Of all pages of a list together. */
  listLimits?: ListLimits | undefined;
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
  /** What the document is, for the limits of its size. Default `object`. */
  use?: ReadUse | undefined;
}

export interface Client {
  readonly transport: Transport;
  readonly discovery: Discovery;
  /** For bodies that are read with `readBody`: they count together with what this client reads itself. */
  readonly readBudget: ReadBudget;
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
  readonly readBudget: ReadBudget;
  readonly #options: ClientOptions & { readBudget: ReadBudget };
  readonly #requester: Requester;

  constructor(options: ClientOptions & { readBudget?: ReadBudget }) {
    const { readBudget = new ReadBudget(options.readBudgetBytes) } = options;
    this.transport = options.transport;
    this.readBudget = readBudget;
    this.#options = { ...options, readBudget };
    this.#requester = new Requester(this.#options);
    this.discovery = createDiscovery(this.#requester, options.clock ?? systemClock);
  }

  resource<T extends KubeObject>(type: ResourceType<T>): ResourceClient<T> {
    return new HttpResourceClient(type, this.#requester, this.#options.fieldManager);
  }

  async getJson(path: string, options: GetJsonOptions = {}): Promise<unknown> {
    const { use, ...request } = options;
    return this.#requester.json({ method: 'GET', path, ...request }, { use });
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
