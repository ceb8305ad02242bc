import { Readable } from 'node:stream';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import {
  type Client,
  ClientError,
  createClient,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@asterism/client';
import { NAMESPACES, parseJson } from '@asterism/machinery';
import { type ClusterProvider, createManager, type Manager, silentLogger } from '@asterism/runtime';
import { clusterNamespace, CLUSTERS, customResourceDefinitions } from '../../api/index.ts';
import { Templates } from '../../template/templates.ts';
import { addPlacement } from '../../place/index.ts';
import { cluster, type ClusterParts } from '../../place/testing/build.ts';
import { addDelivery, addPullExecutor, addPushExecutor, type DeliveryOptions, type ExecutorOptions } from '../index.ts';

export interface MemberParts extends ClusterParts {
  /** The controllers cannot reach it until `arrive` is called. */
  away?: boolean;
  /** Text of bodies that its API server refuses, and what it says then, with status 500. */
  refuses?: Readonly<Record<string, string>>;
}

export interface FleetOptions {
  /** Templates stand in an API server of their own beside the hub's. */
  templatesElsewhere?: boolean;
  /** Make the manifests of some templates. */
  sources?: DeliveryOptions['sources'];
  /** A field that the templates' API server does not know: it is lost where it is written there. */
  templatesLack?: string;
  /** For how long status is gathered, and by which clock; by default as in a hub. */
  timing?: Pick<DeliveryOptions & ExecutorOptions, 'coalesceMs' | 'progressMs' | 'patienceMs' | 'clock'>;
}

/** A hub and its members, each an API server of its own; nothing runs in them but what a test writes. */
export class Fleet implements AsyncDisposable {
  readonly hub: Client;
  /** Where templates are: the hub, unless they stand elsewhere. */
  readonly templates: Client;
  /** Every write that the controllers have asked for, as `hub PATCH /path`. */
  readonly writes: string[] = [];
  /** Everything that they have asked to read, likewise. */
  readonly reads: string[] = [];
  /** Awaited before a write of the controllers goes on, as `writes` says it: to hold it. */
  before: ((write: string) => Promise<void>) | undefined;
  /** Where set, the templates' API server cannot be reached, and each attempt is told. */
  templatesAway: (() => void) | undefined;
  readonly #parts: Readonly<Record<string, MemberParts>>;
  readonly #options: FleetOptions;
  readonly #hubServer: TestServer;
  readonly #templateServer: TestServer;
  readonly #servers: ReadonlyMap<string, TestServer>;
  readonly #arrivals = new Map<string, PromiseWithResolvers<void>>();
  #stop: (() => Promise<void>) | undefined;

  static async start(parts: Readonly<Record<string, MemberParts>>, options: FleetOptions = {}): Promise<Fleet> {
    const names = Object.keys(parts);
    const hubServer = await startTestServer({ crds: await customResourceDefinitions() });
    const templateServer = options.templatesElsewhere ? await startTestServer() : hubServer;
    const members = await Promise.all(names.map(() => startTestServer()));
    const servers = new Map(names.map((name, index) => [name, members[index] as TestServer]));
    const fleet = new Fleet(parts, options, { hubServer, templateServer, servers });
    await fleet.templates.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
    for (const [name, each] of Object.entries(parts)) await fleet.join(name, each);
    return fleet;
  }

  private constructor(
    parts: Readonly<Record<string, MemberParts>>,
    options: FleetOptions,
    servers: { hubServer: TestServer; templateServer: TestServer; servers: ReadonlyMap<string, TestServer> },
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#hubServer = servers.hubServer;
    this.#templateServer = servers.templateServer;
    this.#servers = servers.servers;
    this.hub = servers.hubServer.client;
    this.templates = servers.templateServer.client;
    for (const [name, { away }] of Object.entries(parts)) if (away) this.#arrivals.set(name, Promise.withResolvers());
  }

  member(name: string): Client {
    return this.#server(name).client;
  }

  /** From now on the controllers can reach it. */
  arrive(name: string): void {
    this.#arrivals.get(name)?.resolve();
  }

  async join(name: string, parts: ClusterParts): Promise<void> {
    const { hub } = this;
    const joined = cluster(name, parts);
    await hub.resource(NAMESPACES).create({ metadata: { name: clusterNamespace(name) } });
    await hub.resource(CLUSTERS).create(joined);
    const body = [{ op: 'add', path: '/status', value: joined.status }];
    await hub.resource(CLUSTERS).patch({ name }, { type: 'json', body }, { subresource: 'status' });
  }

  /** Runs the hub's controllers, and an agent for each Pull member. */
  async run(agentClient: (name: string) => Client = () => this.hub): Promise<void> {
    const abort = new AbortController();
    const names = [...this.#servers.keys()];
    const { templatesElsewhere, timing, sources } = this.#options;
    const manager = createManager({
      client: this.#recorded('hub', this.hub),
      providers: [this.#engage(names)],
      logger: silentLogger,
      // A reconcile that waits for templates that cannot be reached would take all of the default.
      graceMs: 1_000,
    });
    const elsewhere = templatesElsewhere
      ? manager.addCluster('templates', this.#recorded('templates', this.templates))
      : undefined;
    const templates = new Templates(manager.local, elsewhere);
    addPlacement(manager, { templates });
    addDelivery(manager, { templates, sources, ...timing });
    addPushExecutor(manager, timing);
    const pulled = names.filter((name) => this.#parts[name]?.syncMode === 'Pull');
    const agents = pulled.map((clusterName) => {
      const client = this.#recorded('hub', agentClient(clusterName));
      const agent = createManager({ client, providers: [this.#engage([clusterName])], logger: silentLogger });
      addPullExecutor(agent, { clusterName, ...timing });
      return agent;
    });
    const managers: Manager[] = [manager, ...agents];
    const running = managers.map((each) => each.start(abort.signal));
    this.#stop = async () => {
      abort.abort();
      await Promise.all(running);
    };
    await Promise.all(managers.map((each) => each.ready()));
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
  }

  /** A client of the hub as somebody else. */
  as(username: string): Client {
    return this.#hubServer.clientAs({ username, groups: ['system:authenticated'] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    const servers = new Set([this.#hubServer, this.#templateServer, ...this.#servers.values()]);
    await Promise.all([...servers].map((server) => server.stop()));
  }

  #server(name: string): TestServer {
    const server = this.#servers.get(name);
    if (!server) throw new Error(`there is no member ${name}`);
    return server;
  }

  #engage(names: readonly string[]): ClusterProvider {
    return {
      run: async (engage, signal) => {
        const stopped = new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        const engageOne = async (name: string): Promise<void> => {
          await Promise.race([this.#arrivals.get(name)?.promise, stopped]);
          if (!signal.aborted) engage(name, this.#recorded(name, this.member(name)));
        };
        await Promise.all([...names.map(engageOne), stopped]);
      },
    };
  }

  #received(where: string, request: TransportRequest): TransportRequest {
    const { templatesLack } = this.#options;
    if (where !== 'templates' || !templatesLack || typeof request.body !== 'string') return request;
    const known = (key: string, value: unknown): unknown => (key === templatesLack ? undefined : value);
    return { ...request, body: JSON.stringify(parseJson(request.body), known) };
  }

  #refusal(where: string, { body }: TransportRequest): Promise<TransportResponse> | undefined {
    const refusals = Object.entries(this.#parts[where]?.refuses ?? {});
    const [, message] = refusals.find(([text]) => typeof body === 'string' && body.includes(text)) ?? [];
    if (message === undefined) return undefined;
    const status = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500, message });
    const headers = { 'content-type': 'application/json' };
    return Promise.resolve({ status: 500, headers, body: Readable.from([Buffer.from(status)]) });
  }

  #recorded(where: string, { transport }: Client): Client {
    const recording: Transport = {
      request: async (request) => {
        const write = `${where} ${request.method} ${request.path}`;
        if (request.method === 'GET') this.reads.push(write);
        else {
          this.writes.push(write);
          await this.before?.(write);
        }
        if (where === 'templates' && this.templatesAway) {
          this.templatesAway();
          throw new ClientError('cannot reach the templates', { code: 'ECONNREFUSED' });
        }
        return await (this.#refusal(where, request) ?? transport.request(this.#received(where, request)));
      },
      upgrade: (request) => transport.upgrade(request),
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return createClient({ transport: recording });
  }
}
