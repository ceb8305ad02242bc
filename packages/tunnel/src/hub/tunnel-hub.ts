import type { Duplex } from 'node:stream';
import { type Clock, systemClock, type Transport } from '@asterism/client';
import { collectBuffers } from '@asterism/runtime';
import type { TunnelCounters } from '../counters.ts';
import { DEFAULT_LIMITS, type TunnelLimits } from '../limits.ts';
import type { TunnelLogger } from '../tunnel-logger.ts';
import type { ConnectionOffer } from '../wire/connection-offer.ts';
import { takeOver } from '../wire/socket.ts';
import { AgentConnections } from './agent-connections.ts';
import { TunnelTransport } from './tunnel-transport.ts';

export interface TunnelHubOptions {
  logger?: TunnelLogger | undefined;
  limits?: Partial<TunnelLimits> | undefined;
  /** Default: the system's. */
  clock?: Clock | undefined;
}

/** An agent became reachable, or ceased to be. */
export interface TunnelChange {
  name: string;
  connected: boolean;
  /** Why it ceased. */
  reason?: string;
}

/** The end that agents dial. Owns every socket that it accepts. */
export interface TunnelHub extends AsyncDisposable {
  /**
   * Takes over what `answerTunnelUpgrade` gave for a socket. A hub that drains or is closed destroys it.
   *
   * @param name the agent, as its credential proved it: never what the agent says of itself.
   */
  accept(name: string, carrier: Duplex, offer: ConnectionOffer): void;
  /**
   * Calls to that agent's target. Cheap, may be made before the agent was ever seen, and outlives its connections: a call
   * rejects at once with TunnelError `NOT_CONNECTED` while no agent of that name is connected.
   */
  transport(name: string): Transport;
  connected(name: string): boolean;
  /** Names that are connected now. */
  names(): string[];
  /** Counters of an agent that was seen since it was last disconnected on purpose: a copy. */
  counters(name: string): TunnelCounters | undefined;
  /** @returns a function that ends the subscription. */
  onChange(listener: (change: TunnelChange) => void): () => void;
  /** Ends every connection of that agent at once, its calls too, and forgets it. */
  disconnect(name: string, reason: string): void;
  /** Takes no new call for that agent here; each of its connections ends with the last that runs on it, and the agent dials anew. */
  drainAgent(name: string): void;
  /** The same for the one connection that came with this offer. A byte pipe in use lasts as long as what runs on it. */
  drainConnection(name: string, offer: ConnectionOffer): void;
  /** Takes no new call, lets running ones finish (at most `drainTimeoutMs`) but for long ones, then closes. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

export function createTunnelHub(options: TunnelHubOptions = {}): TunnelHub {
  return new Hub(options);
}

class Hub implements TunnelHub {
  readonly #logger: TunnelLogger | undefined;
  readonly #limits: TunnelLimits;
  readonly #clock: Clock;
  readonly #buffers = collectBuffers();
  readonly #agents = new Map<string, AgentConnections>();
  readonly #listeners = new Set<(change: TunnelChange) => void>();
  #closing = false;
  #onEmpty = (): void => {};

  constructor({ logger, limits, clock }: TunnelHubOptions) {
    this.#logger = logger;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#clock = clock ?? systemClock;
  }

  accept(name: string, carrier: Duplex, offer: ConnectionOffer): void {
    if (this.#closing) {
      carrier.destroy();
      return;
    }
    takeOver(carrier, { halfOpen: offer.kind === 'upgrade' });
    this.#agent(name).accept(carrier, offer);
  }

  transport(name: string): Transport {
    return new TunnelTransport(name, () => this.#agents.get(name));
  }

  connected(name: string): boolean {
    return this.#agents.get(name)?.connected ?? false;
  }

  names(): string[] {
    return [...this.#agents].filter(([, agent]) => agent.connected).map(([name]) => name);
  }

  counters(name: string): TunnelCounters | undefined {
    return this.#agents.get(name)?.snapshot();
  }

  onChange(listener: (change: TunnelChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  disconnect(name: string, reason: string): void {
    this.#logger?.info({ agent: name, reason }, 'tunnel disconnected on purpose');
    this.#agents.get(name)?.end('disconnected');
    this.#agents.delete(name);
  }

  drainAgent(name: string): void {
    this.#agents.get(name)?.drain();
  }

  drainConnection(name: string, offer: ConnectionOffer): void {
    this.#agents.get(name)?.drainConnection(offer);
  }

  async drain(): Promise<void> {
    this.#closing = true;
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#clock.setTimer(resolve, this.#limits.drainTimeoutMs);
      this.#onEmpty = () => {
        if (![...this.#agents.values()].every((agent) => agent.empty)) return;
        cancelTimer();
        resolve();
      };
      for (const agent of this.#agents.values()) agent.drain();
      this.#onEmpty();
    });
    await this.close();
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const agent of this.#agents.values()) agent.end('disconnected');
    this.#agents.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #agent(name: string): AgentConnections {
    const known = this.#agents.get(name);
    if (known) return known;
    const agent = new AgentConnections({
      name,
      limits: this.#limits,
      clock: this.#clock,
      buffers: this.#buffers,
      onChange: (connected, reason) => {
        this.#logger?.info({ agent: name, reason }, connected ? 'tunnel connected' : 'tunnel lost');
        const change = { name, connected, ...(reason === undefined ? {} : { reason }) };
        for (const listener of this.#listeners) listener(change);
      },
      onConnection: (offer) => this.#logger?.debug({ agent: name, ...offer }, 'tunnel connection begins'),
      onEnd: (offer, reason) => {
        this.#logger?.debug({ agent: name, ...offer, reason }, 'tunnel connection ended');
        this.#onEmpty();
      },
    });
    this.#agents.set(name, agent);
    return agent;
  }
}
