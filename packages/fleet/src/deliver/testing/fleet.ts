import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, createClient, type Transport } from '@asterism/client';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '@asterism/machinery';
import { type ClusterProvider, createManager, type Manager, silentLogger } from '@asterism/runtime';
import { clusterNamespace, CLUSTERS } from '../../api/index.ts';
import definitions from '../../generated/custom-resource-definitions.json' with { type: 'json' };
import { addPlacement } from '../../place/index.ts';
import { cluster, type ClusterParts } from '../../place/testing/build.ts';
import { addDelivery, addPullExecutor, addPushExecutor } from '../index.ts';

export interface MemberParts extends ClusterParts {
  /** The controllers cannot reach it until `arrive` is called. */
  away?: boolean;
}

/** A hub and its members, each an API server of its own; nothing runs in them but what a test writes. */
export class Fleet implements AsyncDisposable {
  readonly hub: Client;
  /** Every write that the controllers have asked for, as `hub PATCH /path`. */
  readonly writes: string[] = [];
  readonly #parts: Readonly<Record<string, MemberParts>>;
  readonly #hubServer: TestServer;
  readonly #servers: ReadonlyMap<string, TestServer>;
  readonly #arrivals = new Map<string, PromiseWithResolvers<void>>();
  #stop: (() => Promise<void>) | undefined;

  static async start(parts: Readonly<Record<string, MemberParts>>): Promise<Fleet> {
    const names = Object.keys(parts);
    const [hubServer, ...members] = await Promise.all(['hub', ...names].map(() => startTestServer()));
    const servers = new Map(names.map((name, index) => [name, members[index] as TestServer]));
    const fleet = new Fleet(parts, hubServer as TestServer, servers);
    for (const definition of definitions)
      await fleet.hub.resource(CUSTOM_RESOURCE_DEFINITIONS).create(definition as never);
    await fleet.hub.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
    for (const [name, each] of Object.entries(parts)) await fleet.join(name, each);
    return fleet;
  }

  private constructor(
    parts: Readonly<Record<string, MemberParts>>,
    hubServer: TestServer,
    servers: ReadonlyMap<string, TestServer>,
  ) {
    this.#parts = parts;
    this.#hubServer = hubServer;
    this.#servers = servers;
    this.hub = hubServer.client;
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
    const manager = createManager({
      client: this.#recorded('hub', this.hub),
      providers: [this.#engage(names)],
      logger: silentLogger,
    });
    addPlacement(manager);
    addDelivery(manager);
    addPushExecutor(manager);
    const pulled = names.filter((name) => this.#parts[name]?.syncMode === 'Pull');
    const agents = pulled.map((clusterName) => {
      const client = this.#recorded('hub', agentClient(clusterName));
      const agent = createManager({ client, providers: [this.#engage([clusterName])], logger: silentLogger });
      addPullExecutor(agent, { clusterName });
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
    await Promise.all([this.#hubServer, ...this.#servers.values()].map((server) => server.stop()));
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

  #recorded(where: string, { transport }: Client): Client {
    const recording: Transport = {
      request: (request) => {
        if (request.method !== 'GET') this.writes.push(`${where} ${request.method} ${request.path}`);
        return transport.request(request);
      },
      upgrade: (request) => transport.upgrade(request),
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return createClient({ transport: recording });
  }
}
