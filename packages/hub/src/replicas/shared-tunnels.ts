import type { Duplex } from 'node:stream';
import {
  type Clock,
  READ_LIMITS,
  readBody,
  readLines,
  sleep,
  systemClock,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  type UpgradeResponse,
} from '@asterism/client';
import { parseJson } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import {
  type ConnectionOffer,
  DEFAULT_LIMITS,
  isTunnelError,
  splice,
  TUNNEL_PROTOCOL,
  type TunnelChange,
  type TunnelCounters,
  type TunnelHub,
} from '@asterism/tunnel';
import { attachPath, HELD_PATH, heldPath } from './held-tunnels.ts';

export interface SharedTunnelsOptions {
  /** Of this replica. */
  id: string;
  /** The tunnels that this process holds. */
  local: TunnelHub;
  /** To the other replicas, under their ids: behind each stand the tunnels that it holds. */
  links: TunnelHub;
  logger: Logger;
  clock?: Clock;
}

/** How long to wait before a replica is asked again what it holds, while the link to it stands, ms. */
const ASK_AGAIN_MS = 500;

/**
 * The tunnels of all replicas as if they were this one's: a call goes through the own end of a tunnel where there is one, else
 * through the replica that holds it.
 */
export class SharedTunnels implements TunnelHub {
  readonly #id: string;
  readonly #local: TunnelHub;
  readonly #links: TunnelHub;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Which replicas hold a tunnel, by its name. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #asking = new Map<string, AbortController>();
  readonly #listeners = new Set<(change: TunnelChange) => void>();
  /** What the listeners know to be connected. */
  readonly #told = new Set<string>();
  /** When a tunnel that none holds was lost. */
  readonly #lostAt = new Map<string, number>();
  /** Connections that came here and were brought to where their tunnel stands. */
  readonly #brought = new Set<Brought>();
  #draining = false;
  /** When a replica last said what it holds for the first time, or was to. */
  #linkedAt = Number.NEGATIVE_INFINITY;

  constructor({ id, local, links, logger, clock = systemClock }: SharedTunnelsOptions) {
    this.#id = id;
    this.#local = local;
    this.#links = links;
    this.#logger = logger;
    this.#clock = clock;
    local.onChange(({ name, reason }) => this.#tell(name, reason));
    links.onChange(({ name, connected }) => {
      if (!connected) return this.#forget(name);
      this.#linkedAt = this.#clock.monotonic();
      void this.#ask(name);
    });
  }

  /** A tunnel stands at one replica as a whole: connections that come elsewhere are brought there. */
  accept(name: string, carrier: Duplex, offer: ConnectionOffer): void {
    const holder = this.#local.connected(name) ? undefined : this.#holder(name);
    if (holder === undefined) return this.#local.accept(name, carrier, offer);
    if (this.#draining) return void carrier.destroy();
    const path = attachPath(name, offer);
    const ended = this.#bring(carrier, { holder, path }).finally(() => this.#brought.delete(brought));
    const brought = { holder, path, ended };
    this.#brought.add(brought);
  }

  transport(name: string): Transport {
    return new SharedTransport(name, {
      local: this.#local.transport(name),
      wayTo: () => this.#wayTo(name),
      comeBack: (signal) => this.#comeBack(name, signal),
    });
  }

  connected(name: string): boolean {
    return this.#local.connected(name) || this.#holders.has(name);
  }

  names(): string[] {
    return [...new Set([...this.#local.names(), ...this.#holders.keys()])];
  }

  counters(name: string): TunnelCounters | undefined {
    return this.#local.counters(name);
  }

  onChange(listener: (change: TunnelChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Here: each replica learns by itself why, and does the same. */
  disconnect(name: string, reason: string): void {
    this.#local.disconnect(name, reason);
    this.#lostAt.delete(name);
  }

  drainAgent(name: string): void {
    this.#local.drainAgent(name);
  }

  drainConnection(name: string, offer: ConnectionOffer): void {
    this.#local.drainConnection(name, offer);
  }

  async drain(): Promise<void> {
    this.#draining = true;
    await Promise.all([this.#local.drain(), this.#drainBrought()]);
    await this.close();
  }

  async close(): Promise<void> {
    for (const id of this.#asking.keys()) this.#forget(id);
    await this.#local.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** They end with this replica: each holder is to let the calls on them finish, and its agent to dial another. */
  async #drainBrought(): Promise<void> {
    const late = new AbortController();
    const { signal } = late;
    const ended = [...this.#brought].map(async ({ holder, path, ended }) => {
      const { body } = await this.#links.transport(holder).request({ method: 'DELETE', path, signal });
      await readBody(body, holder, { limits: READ_LIMITS.text });
      await ended;
    });
    const deadline = sleep(this.#clock, DEFAULT_LIMITS.drainTimeoutMs, signal).catch(() => {});
    await Promise.race([Promise.allSettled(ended), deadline]);
    late.abort();
  }

  async #bring(carrier: Duplex, { holder, path }: Omit<Brought, 'ended'>): Promise<void> {
    carrier.on('error', () => {}); // The close that follows says all.
    carrier.allowHalfOpen = true;
    const gone = new AbortController();
    carrier.once('close', () => gone.abort(new Error('the agent left')));
    const headers = { connection: 'Upgrade', upgrade: TUNNEL_PROTOCOL };
    try {
      const answer = await this.#links
        .transport(holder)
        .upgrade({ method: 'POST', path, headers, signal: gone.signal });
      if ('socket' in answer) await splice(carrier, answer.socket);
      else answer.body.destroy();
    } catch (err) {
      this.#logger.debug(
        { replica: holder, err },
        "an agent's connection could not be brought to where its tunnel stands",
      );
    } finally {
      carrier.destroy();
    }
  }

  /** Waits for a tunnel that was lost a moment ago, or of which a replica may not have told yet. */
  async #comeBack(name: string, signal: AbortSignal | undefined): Promise<void> {
    const since = Math.max(this.#lostAt.get(name) ?? Number.NEGATIVE_INFINITY, this.#linkedAt);
    const leftMs = since + DEFAULT_LIMITS.reconnectWaitMs - this.#clock.monotonic();
    if (this.connected(name) || leftMs <= 0) return;
    const back = new AbortController();
    const unsubscribe = this.onChange((change) => {
      if (change.name === name && change.connected) back.abort();
    });
    try {
      await sleep(this.#clock, leftMs, signal ? AbortSignal.any([back.signal, signal]) : back.signal);
    } catch {
      signal?.throwIfAborted();
    } finally {
      unsubscribe();
    }
  }

  #holder(name: string): string | undefined {
    const [id] = this.#holders.get(name) ?? [];
    return id;
  }

  #wayTo(name: string): Way | undefined {
    if (this.#local.connected(name)) return undefined;
    const id = this.#holder(name);
    return id === undefined
      ? undefined
      : { transport: this.#links.transport(id), path: (path) => heldPath(name, path) };
  }

  /** Learns what a replica holds for as long as the link to it stands. */
  async #ask(id: string): Promise<void> {
    this.#asking.get(id)?.abort();
    const abort = new AbortController();
    this.#asking.set(id, abort);
    const { signal } = abort;
    const request = { method: 'GET', path: HELD_PATH, long: true, signal };
    while (!signal.aborted) {
      try {
        const { body } = await this.#links.transport(id).request(request);
        this.#release(id);
        for await (const line of readLines(body, id, { signal }))
          this.#learn(id, parseJson(line.toString()) as TunnelChange);
      } catch (error) {
        if (!signal.aborted) this.#logger.debug({ replica: id, err: error }, 'a replica does not say what it holds');
      }
      await sleep(this.#clock, ASK_AGAIN_MS, signal).catch(() => {});
    }
  }

  #forget(id: string): void {
    this.#asking.get(id)?.abort(new Error('the link to the replica is gone'));
    this.#asking.delete(id);
    this.#release(id);
  }

  #release(id: string): void {
    for (const name of this.#holders.keys()) this.#learn(id, { name, connected: false });
  }

  #learn(id: string, { name, connected }: TunnelChange): void {
    const holders = this.#holders.get(name) ?? new Set();
    if (connected) {
      this.#holders.set(name, holders.add(id));
      this.#leaveTo(id, name);
    } else if (holders.delete(id) && holders.size === 0) this.#holders.delete(name);
    this.#tell(name, 'closed');
  }

  /** An agent whose connections went to several replicas at once comes to the one whose id is the first. */
  #leaveTo(id: string, name: string): void {
    if (!this.#local.connected(name) || id < this.#id) this.#local.drainAgent(name);
  }

  #tell(name: string, reason: string | undefined): void {
    const connected = this.connected(name);
    if (connected === this.#told.has(name)) return;
    if (connected) this.#told.add(name);
    else this.#told.delete(name);
    if (connected || reason === 'disconnected') this.#lostAt.delete(name);
    else this.#lostAt.set(name, this.#clock.monotonic());
    const change = { name, connected, ...(connected || reason === undefined ? {} : { reason }) };
    for (const listener of this.#listeners) listener(change);
  }
}

/** A connection that ends at another replica; `ended` resolves when it has. */
interface Brought {
  holder: string;
  path: string;
  ended: Promise<void>;
}

/** Through another replica. */
interface Way {
  transport: Transport;
  path: (path: string) => string;
}

interface Ways {
  local: Transport;
  wayTo: () => Way | undefined;
  /** Waits, where that may help, until there is a way; not for ever. */
  comeBack: (signal: AbortSignal | undefined) => Promise<void>;
}

class SharedTransport implements Transport {
  readonly server: string;
  readonly #local: Transport;
  readonly #ways: Ways;
  readonly #closed = new AbortController();

  constructor(name: string, ways: Ways) {
    this.server = name;
    this.#local = ways.local;
    this.#ways = ways;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#send(request, (transport, sent) => transport.request(sent));
  }

  upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    return this.#send(request, (transport, sent) => transport.upgrade(sent));
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error(`tunnel to "${this.server}": this transport was closed`));
    await this.#local.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A tunnel that has just moved, or is about to, is looked for once more: nothing was sent then. */
  async #send<T>(
    request: TransportRequest,
    send: (transport: Transport, sent: TransportRequest) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#sendOnce(request, send);
    } catch (error) {
      if (!isTunnelError(error, 'NOT_CONNECTED') || !isReplayable(request)) throw error;
      await this.#ways.comeBack(request.signal);
      return await this.#sendOnce(request, send);
    }
  }

  #sendOnce<T>(
    request: TransportRequest,
    send: (transport: Transport, sent: TransportRequest) => Promise<T>,
  ): Promise<T> {
    const way = this.#closed.signal.aborted ? undefined : this.#ways.wayTo();
    if (!way) return send(this.#local, request);
    const signals = [this.#closed.signal, ...(request.signal ? [request.signal] : [])];
    return send(way.transport, { ...request, path: way.path(request.path), signal: AbortSignal.any(signals) });
  }
}

function isReplayable({ body }: TransportRequest): boolean {
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}
