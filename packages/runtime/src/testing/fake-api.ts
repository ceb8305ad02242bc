import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Client, createClient, createTransport, type HttpTransport } from '@asterism/client';
import { type KubeObject, parseJson, type Status } from '@asterism/machinery';

/** A request as a fault sees it. */
export interface FakeCall {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  watch: boolean;
  /** A watch's response, to write to or to break. */
  response: ServerResponse;
}

/** Returns true when it has dealt with the request itself. */
export type Fault = (call: FakeCall) => boolean | void;

interface Change {
  type: string;
  collection: string;
  object: KubeObject;
}

/**
 * A small API server over a real socket that keeps objects, history and watches, and misbehaves on demand. It knows no kinds:
 * whatever path a list has is a collection.
 */
export class FakeApi implements AsyncDisposable {
  /** Without those for the version. */
  readonly calls: FakeCall[] = [];
  version = { major: '1', minor: '36' };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #watches = new Set<{ collection: string; namespace: string | undefined; response: ServerResponse }>();
  readonly #transports: HttpTransport[] = [];
  #history: Change[] = [];
  #resourceVersion = 100;
  /** Below this the history is gone. */
  #compacted = 0;
  readonly #faults: Fault[] = [];
  readonly #callWaiters = new Set<() => void>();

  static async start(): Promise<FakeApi> {
    const api = new FakeApi();
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const resolve of this.#callWaiters) resolve();
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get resourceVersion(): string {
    return String(this.#resourceVersion);
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  client(token = 'token'): Client {
    const transport = createTransport({ server: this.url, credential: { kind: 'token', token } });
    this.#transports.push(transport);
    return createClient({ transport });
  }

  /** The next request that it deals with is the last that it sees. */
  faultOnce(fault: Fault): void {
    const once: Fault = (call) => {
      if (!fault(call)) return false;
      this.#faults.splice(this.#faults.indexOf(once), 1);
      return true;
    };
    this.#faults.push(once);
  }

  /** Until the function that it returns is called. */
  fault(fault: Fault): () => void {
    this.#faults.push(fault);
    return () => this.#faults.splice(this.#faults.indexOf(fault), 1);
  }

  /** Creates or changes. `collection` is the path of all of the kind, `/api/v1/pods`. */
  put(collection: string, object: KubeObject): KubeObject {
    const objects = this.#collection(collection);
    const key = `${object.metadata?.namespace ?? ''}/${object.metadata?.name}`;
    const type = objects.has(key) ? 'MODIFIED' : 'ADDED';
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#resourceVersion) } };
    objects.set(key, stored);
    this.#change({ type, collection, object: stored });
    return stored;
  }

  remove(collection: string, name: string, namespace = ''): void {
    const objects = this.#collection(collection);
    const object = objects.get(`${namespace}/${name}`);
    if (!object) return;
    objects.delete(`${namespace}/${name}`);
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#resourceVersion) } };
    this.#change({ type: 'DELETED', collection, object: last });
  }

  bookmark(): void {
    for (const { response } of this.#watches) {
      write(response, { type: 'BOOKMARK', object: { metadata: { resourceVersion: this.resourceVersion } } });
    }
  }

  /** Forgets the history: who resumes from before now gets 410. */
  compact(): void {
    this.#history = [];
    this.#compacted = this.#resourceVersion;
  }

  /** As of a backup: what is there is all there is, and resourceVersions go on from `resourceVersion`. */
  restore(resourceVersion: number): void {
    this.#history = [];
    this.#resourceVersion = resourceVersion;
  }

  /** Ends every watch: in good order, or by a reset. */
  endWatches(how: 'end' | 'reset' = 'end'): void {
    for (const { response } of this.#watches) {
      if (how === 'end') response.end();
      else response.destroy();
    }
  }

  /** Writes to every open watch. */
  toWatches(event: unknown): void {
    for (const { response } of this.#watches) write(response, event);
  }

  /** Resolves when a request has come for which `matches` holds, also one that came before. */
  async called(matches: (call: FakeCall) => boolean): Promise<FakeCall> {
    for (;;) {
      const found = this.calls.find(matches);
      if (found) return found;
      await new Promise<void>((resolve) => this.#callWaiters.add(resolve));
    }
  }

  /** Resolves when nobody is connected. */
  async silent(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#callWaiters.add(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const transport of this.#transports) await transport.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #collection(path: string): Map<string, KubeObject> {
    const objects = this.#objects.get(path) ?? new Map<string, KubeObject>();
    this.#objects.set(path, objects);
    return objects;
  }

  #change(change: Change): void {
    this.#history.push(change);
    for (const { collection, namespace, response } of this.#watches) {
      if (collection === change.collection && isIn(change.object, namespace)) write(response, change);
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '', this.url);
    const watch = query.get('watch') === 'true';
    const { method = '', headers } = request;
    if (pathname === '/version') return answer(response, 200, this.version);
    const call: FakeCall = { method, path: pathname, query, headers, watch, response };
    this.calls.push(call);
    for (const resolve of this.#callWaiters) resolve();
    this.#callWaiters.clear();
    if (this.#faults.some((fault) => fault(call))) return;
    const [, prefix = '', namespace, rest = ''] =
      /^(.*?)(?:\/namespaces\/([^/]+)(?=\/))?(\/[^/]+(?:\/[^/]+)?)$/.exec(pathname) ?? [];
    if (call.method === 'GET' && watch) return this.#watch(call, prefix + rest, namespace);
    if (call.method === 'GET') return this.#list(call, prefix + rest, namespace);
    const chunks = await request.toArray();
    const object = parseJson(Buffer.concat(chunks).toString()) as KubeObject;
    const [collection = ''] = /^\/[^/]+/.exec(rest) ?? [];
    answer(response, 200, this.put(prefix + collection, object));
  }

  #list({ query, response }: FakeCall, collection: string, namespace: string | undefined): void {
    if (query.has('resourceVersionMatch') && Number(query.get('resourceVersion')) > this.#resourceVersion) {
      const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
      return answer(response, 504, failure(504, 'Timeout', { details: { causes } }));
    }
    const all = [...this.#collection(collection).values()].filter((object) => isIn(object, namespace));
    const from = Number(query.get('continue') ?? 0);
    const to = from + Number(query.get('limit') ?? all.length);
    const metadata = { resourceVersion: this.resourceVersion, ...(to < all.length ? { continue: String(to) } : {}) };
    answer(response, 200, { kind: 'List', apiVersion: 'v1', metadata, items: all.slice(from, to) });
  }

  #watch({ query, response }: FakeCall, collection: string, namespace: string | undefined): void {
    const from = query.get('resourceVersion') ?? '';
    const initial = query.get('sendInitialEvents') === 'true';
    if (!initial && Number(from) < this.#compacted) return gone(response);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watch = { collection, namespace, response };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
    if (initial) {
      for (const object of this.#collection(collection).values()) write(response, { type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      write(response, {
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: this.resourceVersion, annotations } },
      });
      return;
    }
    for (const change of this.#history) {
      const newer = Number(change.object.metadata?.resourceVersion) > Number(from);
      if (newer && change.collection === collection && isIn(change.object, namespace)) write(response, change);
    }
  }
}

/** Whether all there is was asked for: not one object, to learn how far the server has come. */
export function isList({ watch, query }: FakeCall): boolean {
  return watch ? query.has('sendInitialEvents') : query.get('limit') !== '1';
}

export function failure(code: number, reason: string, more: Partial<Status> = {}): Status {
  const base = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const;
  return { ...base, code, reason: reason as NonNullable<Status['reason']>, message: reason, ...more };
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function gone(response: ServerResponse): void {
  answer(response, 410, failure(410, 'Expired'));
}

function write(response: ServerResponse, { type, object }: { type: string; object: unknown } | Change): void;
function write(response: ServerResponse, event: unknown): void;
function write(response: ServerResponse, event: unknown): void {
  const { type, object } = event as Change;
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function isIn(object: KubeObject, namespace: string | undefined): boolean {
  return namespace === undefined || object.metadata?.namespace === namespace;
}
