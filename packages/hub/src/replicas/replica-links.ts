import { once } from 'node:events';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { type Transport, trustAnchors, trustAnchorsOnServer } from '@asterism/client';
import type { Logger } from '@asterism/runtime';
import {
  answerTunnelUpgrade,
  type ConnectionOffer,
  createTunnelHub,
  isTunnelError,
  parseOffer,
  refuseTunnelUpgrade,
  runTunnelAgent,
  type TunnelHub,
  upgradeToTunnel,
} from '@asterism/tunnel';
import { type OwnReplica, type Replica, replicaServerName } from './replica.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { createServer } = process.getBuiltinModule('node:https');

const PATH = '/link';

export interface ReplicaLinksOptions {
  /** What this replica lets the others do. */
  held: Transport;
  logger: Logger;
}

interface Link {
  stop: AbortController;
  done: Promise<void>;
  stands: boolean;
}

/**
 * The links between the replicas of a hub. Each is to every other what an agent is to a hub: it dials, and serves there what it
 * has. Both ends prove with TLS 1.3 that they are who a Lease in the system's namespace says; nobody else gets as far as HTTP.
 */
export class ReplicaLinks implements AsyncDisposable {
  /** The ends of the links that others have dialled, under their ids. */
  readonly hub: TunnelHub;
  readonly #options: ReplicaLinksOptions;
  readonly #server: Server;
  readonly #dialled = new Map<string, Link>();
  readonly #listeners = new Set<() => void>();
  #others = new Map<string, Replica>();

  constructor(options: ReplicaLinksOptions) {
    this.#options = options;
    this.hub = createTunnelHub({ logger: options.logger });
    this.#server = createServer({ requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' });
    this.#server.on('request', (_, response) => response.writeHead(404).end());
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      const id = String((socket as TLSSocket).getPeerCertificate().subject?.CN);
      if (!this.#others.has(id)) return refuseTunnelUpgrade(socket, 403, 'no replica of this hub', 1);
      try {
        const offer = parseOffer(request.headers);
        this.hub.accept(id, answerTunnelUpgrade(socket, request.headers, head), offer);
      } catch (error) {
        return refuseTunnelUpgrade(socket, 400, isTunnelError(error) ? error.message : 'no link of a replica');
      }
    });
  }

  /** Takes the address; links are taken from {@link update} on. @returns the port. */
  async listen({ host, port }: { host: string; port: number }): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Whether there is a link both ways: each can then learn what the other holds. */
  linked(id: string): boolean {
    return this.hub.connected(id) && this.#dialled.get(id)?.stands === true;
  }

  /** Told whenever {@link linked} may be another. */
  onChange(listener: () => void): void {
    this.hub.onChange(listener);
    this.#listeners.add(listener);
  }

  /** Trusts these, and none that was trusted before; dials those that are new. */
  update(self: OwnReplica, others: readonly Replica[]): void {
    this.#others = new Map(others.map((other) => [other.id, other]));
    const { cert, key } = self.keys;
    const ca = [self.ca, ...others.map((other) => other.ca)];
    this.#server.setSecureContext({ cert, key, ...trustAnchors(ca), minVersion: 'TLSv1.3' });
    trustAnchorsOnServer(this.#server);
    for (const [id, link] of this.#dialled) {
      if (this.#others.has(id)) continue;
      link.stop.abort();
      this.#dialled.delete(id);
      this.hub.disconnect(id, 'the replica is gone');
    }
    for (const other of others) if (!this.#dialled.has(other.id)) this.#dialled.set(other.id, this.#link(self, other));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const links = [...this.#dialled.values()];
    for (const { stop } of links) stop.abort();
    await Promise.all(links.map(({ done }) => done));
    await this.hub.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => void this.#server.close(resolve));
  }

  #link(self: OwnReplica, other: Replica): Link {
    const stop = new AbortController();
    const link: Link = { stop, done: Promise.resolve(), stands: false };
    link.done = runTunnelAgent({
      onStateChange: ({ state }) => {
        link.stands = state === 'connected';
        for (const listener of this.#listeners) listener();
      },
      dial: (offer, signal) => dial(self, other, offer, signal),
      target: this.#options.held,
      logger: this.#options.logger,
      signal: stop.signal,
    });
    return link;
  }
}

async function dial(self: OwnReplica, other: Replica, offer: ConnectionOffer, signal: AbortSignal): Promise<TLSSocket> {
  const { host, port, ca, id } = other;
  const { cert, key } = self.keys;
  const socket = connect({
    host,
    port,
    ...trustAnchors(ca),
    cert,
    key,
    servername: replicaServerName(id),
    minVersion: 'TLSv1.3',
  });
  try {
    await once(socket, 'secureConnect', { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  await upgradeToTunnel(socket, { path: PATH, host: `${host}:${port}`, offer, signal });
  return socket;
}
