import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Transport } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { runTunnelAgent, type TunnelAgentOptions, type TunnelAgentState } from '../agent/run-tunnel-agent.ts';
import { createTunnelCounters } from '../counters.ts';
import { createTunnelHub, type TunnelHub } from '../hub/tunnel-hub.ts';
import type { TunnelLimits } from '../limits.ts';
import { answerTunnelUpgrade } from '../wire/answer-tunnel-upgrade.ts';
import type { CarrierKind } from '../wire/carriers.ts';
import { type ConnectionKind, type ConnectionOffer, parseOffer } from '../wire/connection-offer.ts';
import { upgradeToTunnel } from '../wire/upgrade-to-tunnel.ts';
import { createHttpTarget } from './http-target.ts';

export interface TunnelFixtureOptions {
  /** The target. */
  handler?: (...args: Parameters<RequestListener>) => unknown;
  onUpgrade?: (
    request: { url: string; headers: NodeJS.Dict<string | string[]> },
    socket: Duplex,
    head: Buffer,
  ) => unknown;
  limits?: Partial<TunnelLimits>;
  /** What agents dial by. Default: that of {@link dialAllBy}. */
  carrier?: CarrierKind;
  agent?: Partial<TunnelAgentOptions>;
}

export interface AcceptedConnection {
  offer: ConnectionOffer;
  /** Beneath the carrier. */
  socket: Socket;
  carrier: Duplex;
}

let defaultCarrier: CarrierKind = 'upgrade';

/** So that suites can be run again over another carrier. */
export function dialAllBy(carrier: CarrierKind): void {
  defaultCarrier = carrier;
}

const KINDS: readonly ConnectionKind[] = ['short', 'long', 'upgrade'];

const TEST_LIMITS: Partial<TunnelLimits> = {
  handshakeTimeoutMs: 1_000,
  reconnectWaitMs: 0,
  upgradeWaitMs: 1_000,
  drainTimeoutMs: 1_000,
};

/** A hub that listens, and a target; agents are started by `startAgent`. Everything over sockets of 127.0.0.1. */
export class TunnelFixture implements AsyncDisposable {
  readonly hub: TunnelHub;
  readonly targetServer: Server;
  /** What the hub accepted, in order. */
  readonly accepted: AcceptedConnection[] = [];
  readonly #options: TunnelFixtureOptions;
  readonly #hubServer: Server;
  readonly #agents: { stop: () => void; done: Promise<void> }[] = [];
  readonly #sockets = new Set<Duplex>();
  #target: Transport | undefined;

  constructor(options: TunnelFixtureOptions) {
    this.#options = options;
    this.hub = createTunnelHub({ limits: { ...TEST_LIMITS, ...options.limits } });
    this.targetServer = createServer((request, response) => void options.handler?.(request, response));
    if (options.onUpgrade) {
      const { onUpgrade } = options;
      this.targetServer.on('upgrade', (request, socket, head) =>
        onUpgrade(
          { url: request.url ?? '', headers: request.headers },
          socket.on('error', () => {}),
          head,
        ),
      );
    }
    this.#hubServer = createServer();
    this.#hubServer.on('upgrade', (request, socket, head) => {
      const offer = parseOffer(request.headers);
      const carrier = answerTunnelUpgrade(socket, request.headers, head, { limits: options.limits });
      this.accepted.push({ offer, socket: socket as Socket, carrier });
      this.hub.accept(String(request.headers['agent-name']), carrier, offer);
    });
    for (const server of [this.#hubServer, this.targetServer]) {
      server.on('connection', (socket: Socket) => this.#sockets.add(socket));
    }
  }

  /** What agents dial by. */
  get carrier(): CarrierKind {
    return this.#options.carrier ?? defaultCarrier;
  }

  get hubPort(): number {
    return (this.#hubServer.address() as AddressInfo).port;
  }

  get target(): Transport {
    this.#target ??= createHttpTarget((this.targetServer.address() as AddressInfo).port);
    return this.#target;
  }

  async listen(port = 0): Promise<void> {
    this.targetServer.listen(0, '127.0.0.1');
    this.#hubServer.listen(port, '127.0.0.1');
    await Promise.all([once(this.targetServer, 'listening'), once(this.#hubServer, 'listening')]);
  }

  /** Opens a tunnel connection as an agent would, through `port` where a proxy stands between. */
  async dial(name: string, offer: ConnectionOffer, signal: AbortSignal, port = this.hubPort): Promise<Duplex> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    socket.on('error', () => {}); // An abort of the signal leaves it connecting.
    this.#sockets.add(socket);
    await once(socket, 'connect', { signal });
    return await upgradeToTunnel(socket, {
      path: '/tunnel',
      host: 'hub',
      headers: { 'agent-name': name },
      carrier: this.carrier,
      limits: this.#options.limits,
      offer,
      signal,
    });
  }

  /** Starts an agent and waits until the hub has `connections` of it (default: all that it wants). */
  async startAgent(name: string, options: Partial<TunnelAgentOptions> = {}): Promise<StartedAgent> {
    const controller = new AbortController();
    const states: TunnelAgentState[] = [];
    const merged = { ...this.#options.agent, ...options };
    const wanted = { short: 1, long: 1, upgrade: 1, ...merged.connections };
    const atRest = (kind: ConnectionKind): number => {
      const count = wanted[kind];
      return typeof count === 'number' ? count : count.atRest;
    };
    const counters = merged.counters ?? createTunnelCounters();
    const stands = (): boolean => {
      const hub = this.hub.counters(name)?.connections;
      return KINDS.every((kind) => counters.connections[kind] >= atRest(kind) && (hub?.[kind] ?? 0) >= atRest(kind));
    };
    const done = runTunnelAgent({
      dial: (offer, signal) => this.dial(name, offer, signal),
      reconnect: { initialMs: 10, capMs: 50, refusedMs: 50 },
      ...merged,
      target: merged.target ?? this.target,
      limits: { ...TEST_LIMITS, ...this.#options.limits, ...merged.limits },
      connections: wanted,
      counters,
      signal: controller.signal,
      onStateChange: (state) => {
        states.push(state);
        merged.onStateChange?.(state);
      },
    });
    this.#agents.push({ stop: () => controller.abort(), done });
    if (this.#hubServer.listening) await until(stands);
    return { states, done, stop: () => controller.abort() };
  }

  /** As when the process of the hub is killed. */
  async stopListening(): Promise<void> {
    this.#hubServer.close();
    await this.hub.close();
    await once(this.#hubServer, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) agent.stop();
    await this.hub.close();
    await this.#target?.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of [this.#hubServer, this.targetServer]) if (server.listening) server.close();
    await Promise.all(this.#agents.map((agent) => agent.done));
  }
}

export interface StartedAgent {
  states: TunnelAgentState[];
  done: Promise<void>;
  stop: () => void;
}

export async function startTunnel(options: TunnelFixtureOptions = {}): Promise<TunnelFixture> {
  const fixture = new TunnelFixture(options);
  await fixture.listen();
  return fixture;
}

/** Waits until a socket is closed, in order or not. */
export function closeOf(socket: Duplex): Promise<unknown> {
  socket.on('error', () => {}).resume();
  return new Promise((resolve) => socket.once('close', resolve));
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return (await bytesOf(body)).toString('utf8');
}

export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
