import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { createTransport } from '@asterism/client';
import { silentLogger } from '@asterism/runtime';
import {
  answerTunnelUpgrade,
  createTunnelHub,
  parseOffer,
  runTunnelAgent,
  type TunnelHub,
  upgradeToTunnel,
} from '@asterism/tunnel';
import { HeldTunnels } from '../replicas/held-tunnels.ts';
import { createReplica, type OwnReplica } from '../replicas/replica.ts';
import { ReplicaLinks } from '../replicas/replica-links.ts';
import { SharedTunnels } from '../replicas/shared-tunnels.ts';

type OnUpgrade = (socket: Duplex, request: IncomingMessage) => void;

const HOST = '127.0.0.1';

/** A replica of a hub, without the rest of the hub: it takes agents over plain HTTP, and has links to others by TLS. */
export class TestReplica implements AsyncDisposable {
  readonly self: OwnReplica;
  readonly links: ReplicaLinks;
  readonly tunnels: SharedTunnels;
  readonly #local: TunnelHub;
  readonly #server: Server;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    self: OwnReplica,
    own: { links: ReplicaLinks; local: TunnelHub; server: Server; parts: AsyncDisposableStack },
  ) {
    this.self = self;
    this.links = own.links;
    this.#local = own.local;
    this.#server = own.server;
    this.#parts = own.parts;
    this.tunnels = new SharedTunnels({ id: self.id, local: own.local, links: own.links.hub, logger: silentLogger });
  }

  static async start(): Promise<TestReplica> {
    const parts = new AsyncDisposableStack();
    const local = parts.use(createTunnelHub());
    const links = parts.use(new ReplicaLinks({ held: new HeldTunnels(local), logger: silentLogger }));
    const self = await createReplica({ host: HOST, port: await links.listen({ host: HOST, port: 0 }) });
    const server = createServer().on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const carrier = answerTunnelUpgrade(
        socket.on('error', () => {}),
        request.headers,
        head,
      );
      replica.tunnels.accept(String(request.headers['agent-name']), carrier, parseOffer(request.headers));
    });
    await listening(server, parts);
    const replica = new TestReplica(self, { links, local, server, parts });
    return replica;
  }

  knows(...others: TestReplica[]): void {
    this.links.update(
      this.self,
      others.map(({ self }) => self),
    );
  }

  /** An agent whose target answers as `handler` does. Resolves when it is connected here. */
  attach(name: string, handler: RequestListener, onUpgrade?: OnUpgrade): Promise<AsyncDisposable> {
    return TestReplica.attach(name, [this], { handler, onUpgrade });
  }

  /** The same, but its connections come to these replicas in turn. Resolves when one has it. */
  static async attach(
    name: string,
    replicas: readonly TestReplica[],
    { handler, onUpgrade }: { handler: RequestListener; onUpgrade?: OnUpgrade | undefined },
  ): Promise<AsyncDisposable> {
    const parts = new AsyncDisposableStack();
    const target = createServer(handler);
    if (onUpgrade) target.on('upgrade', (request, socket) => onUpgrade(socket, request));
    await listening(target, parts);
    const connected = Promise.race(replicas.map((replica) => replica.#connection(name)));
    let dials = 0;
    const stop = new AbortController();
    const done = runTunnelAgent({
      dial: async (offer, signal) => {
        const replica = replicas[dials++ % replicas.length] as TestReplica;
        const socket = connect((replica.#server.address() as AddressInfo).port, HOST);
        await once(socket, 'connect', { signal });
        return await upgradeToTunnel(socket, { path: '/', host: HOST, offer, headers: { 'agent-name': name }, signal });
      },
      target: parts.use(
        createTransport({
          server: `http://${HOST}:${(target.address() as AddressInfo).port}`,
          credential: { kind: 'none' },
        }),
      ),
      signal: stop.signal,
    });
    parts.defer(() => {
      stop.abort();
      return done;
    });
    await connected;
    return parts;
  }

  /** How many connections of an agent end here. */
  held(name: string): number {
    const { short = 0, long = 0, upgrade = 0 } = this.#local.counters(name)?.connections ?? {};
    return short + long + upgrade;
  }

  /** Resolves when a tunnel is, or is not, there for this replica. */
  async until(name: string, connected: boolean): Promise<void> {
    if (this.tunnels.connected(name) === connected) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.tunnels.onChange((change) => {
        if (change.name !== name || change.connected !== connected) return;
        unsubscribe();
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tunnels.close();
    await this.#parts.disposeAsync();
  }

  #connection(name: string): Promise<void> {
    return new Promise((resolve) => {
      const unsubscribe = this.#local.onChange((change) => {
        if (change.name !== name || !change.connected) return;
        unsubscribe();
        resolve();
      });
    });
  }
}

async function listening(server: Server, parts: AsyncDisposableStack): Promise<void> {
  server.listen(0, HOST);
  await once(server, 'listening');
  parts.defer(() => {
    server.closeAllConnections();
    server.close();
  });
}
