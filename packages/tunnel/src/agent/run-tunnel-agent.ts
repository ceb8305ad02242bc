import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock, type Transport } from '@asterism/client';
import { backoff, collectBuffers } from '@asterism/runtime';
import { countConnection, createTunnelCounters, type EndReason, type TunnelCounters } from '../counters.ts';
import { DEFAULT_LIMITS, type TunnelLimits } from '../limits.ts';
import { isTunnelError } from '../tunnel-error.ts';
import type { TunnelLogger } from '../tunnel-logger.ts';
import type { ConnectionKind, ConnectionOffer } from '../wire/connection-offer.ts';
import { messageOf } from '../wire/message-of.ts';
import { takeOver, whenFlushed } from '../wire/socket.ts';
import { AgentSession } from './agent-session.ts';
import { AgentUpgrade } from './agent-upgrade.ts';
import { DialGate } from './dial-gate.ts';
import type { Admit, ServeContext } from './serve-context.ts';

export interface TunnelAgentState {
  state: 'connecting' | 'connected' | 'disconnected' | 'draining' | 'closed';
  /** Why it is disconnected. */
  reason?: string;
  /** Milliseconds until the next try. */
  retryInMs?: number;
}

export interface TunnelAgentOptions {
  /**
   * Opens one connection to the hub: TLS done, HTTP/1.1 upgrade answered with 101 (see `upgradeToTunnel`, and `dialCarriers` for lines
   * that not every upgrade passes).
   */
  dial: (offer: ConnectionOffer, signal: AbortSignal) => Promise<Duplex>;
  /** Told of a dialled session whether the hub spoke over it. */
  onTried?: ((socket: Duplex, works: boolean) => void) | undefined;
  /** Where every admitted call goes. Not closed. */
  target: Transport;
  /** Connections to keep, by kind; a number is as many at rest as at most. Default: 1 short at rest; at most 2 short, 1 long, 4 upgrade. */
  connections?: Partial<Record<ConnectionKind, ConnectionCount>> | undefined;
  /** Default: everything goes. */
  admit?: Admit | undefined;
  logger?: TunnelLogger | undefined;
  limits?: Partial<TunnelLimits> | undefined;
  /** Waits between dials that fail. */
  reconnect?: Partial<ReconnectOptions> | undefined;
  /** Default: the system's. */
  clock?: Clock | undefined;
  /** In [0, 1). */
  random?: (() => number) | undefined;
  /** Names this run. Default: a random UUID. */
  instance?: string | undefined;
  /** Filled while it runs. */
  counters?: TunnelCounters | undefined;
  onStateChange?: ((state: TunnelAgentState) => void) | undefined;
  /** Ends it: long calls break off, others may finish for `drainTimeoutMs`. */
  signal: AbortSignal;
}

export type ConnectionCount = number | { atRest: number; most: number };

/** Milliseconds. Each wait is lengthened by up to once itself, so that agents which lost their hub together return apart. */
export interface ReconnectOptions {
  initialMs: number;
  factor: number;
  capMs: number;
  /** At least this after the hub refused the connection. */
  refusedMs: number;
}

const DEFAULT_RECONNECT: ReconnectOptions = { initialMs: 250, factor: 2, capMs: 900, refusedMs: 10_000 };

/** Each costs the hub more than 100 KB: a thousand agents at rest keep one. */
export const DEFAULT_CONNECTIONS: Readonly<Record<ConnectionKind, ConnectionCount>> = {
  long: { atRest: 0, most: 1 },
  short: { atRest: 1, most: 2 },
  upgrade: { atRest: 0, most: 4 },
};

/** Long first: a watch that comes with the first connection should not sit on one for short requests. */
const KINDS = ['long', 'short', 'upgrade'] as const;

/** At the gate a connection for long calls goes ahead of what is kept at rest, for the reason of {@link KINDS}; all others behind. */
const SPARE_RANK: Record<ConnectionKind, number> = {
  long: -1,
  short: Number.MAX_SAFE_INTEGER,
  upgrade: Number.MAX_SAFE_INTEGER,
};

/** More calls at a time than this on each connection for short ones: another is worth it. What fewer write leaves together on one. */
const BUSY_CALLS = 32;

/** Keeps the connections of `options` to the hub until the signal is aborted; resolves once all are closed. Never rejects. */
export async function runTunnelAgent(options: TunnelAgentOptions): Promise<void> {
  await new TunnelAgent(options).run();
}

class TunnelAgent {
  readonly #options: TunnelAgentOptions;
  readonly #context: ServeContext;
  readonly #gate: DialGate;
  readonly #reconnect: ReconnectOptions;
  readonly #instance: string;
  readonly #aborted: Promise<void>;
  /** In the order in which they came. */
  readonly #connections = new Set<AgentSession | AgentUpgrade>();
  /** For short calls. */
  readonly #short = new Set<AgentSession>();
  /** Slots beyond those at rest, whose connections come, or stand and wait. */
  readonly #spares: Record<ConnectionKind, Set<number>> = { long: new Set(), short: new Set(), upgrade: new Set() };
  /** Sessions that bring requests. */
  #serving = 0;
  #told: TunnelAgentState | undefined;

  constructor(options: TunnelAgentOptions) {
    const { signal, clock = systemClock, random = Math.random } = options;
    this.#options = options;
    this.#instance = options.instance ?? randomUUID();
    this.#reconnect = { ...DEFAULT_RECONNECT, ...options.reconnect };
    const { initialMs, factor, capMs } = this.#reconnect;
    this.#gate = new DialGate({ clock, backoff: backoff({ initialMs, factor, capMs, jitter: 1, random }) });
    this.#context = {
      target: options.target,
      admit: options.admit ?? ((request) => request),
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      clock,
      buffers: collectBuffers(),
      counters: options.counters ?? createTunnelCounters(),
      logger: options.logger,
    };
    this.#aborted = new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async run(): Promise<void> {
    this.#tell({ state: 'connecting' });
    const slots: Promise<void>[] = [];
    for (const kind of KINDS) {
      for (let slot = 0; slot < this.#wanted(kind).atRest; slot += 1) {
        slots.push(this.#keep(this.#offer(kind, slot), slots.length));
      }
    }
    await Promise.all(slots);
    this.#tell({ state: 'draining' });
    await this.#drain();
    this.#tell({ state: 'closed' });
  }

  #wanted(kind: ConnectionKind): { atRest: number; most: number } {
    const count = this.#options.connections?.[kind] ?? DEFAULT_CONNECTIONS[kind];
    return typeof count === 'number' ? { atRest: count, most: count } : count;
  }

  #offer(kind: ConnectionKind, slot: number): ConnectionOffer {
    const spare = slot >= this.#wanted(kind).atRest;
    return { kind, slot, instance: this.#instance, ...(kind === 'upgrade' ? { spare } : {}) };
  }

  /** Keeps one slot connected. */
  async #keep(offer: ConnectionOffer, rank: number): Promise<void> {
    const { signal } = this.#options;
    while (await this.#gate.pass(rank, signal)) {
      const socket = await this.#dial(offer);
      if (!socket) continue;
      if (offer.kind === 'upgrade') await this.#keepUpgrade(socket, { spare: false });
      else await this.#keepSession(socket, offer, { spare: false });
    }
  }

  /** Adds a connection while those at rest are not enough, as far as there may be more. */
  #addSpare(kind: ConnectionKind): void {
    const { atRest, most } = this.#wanted(kind);
    const taken = this.#spares[kind];
    if (this.#options.signal.aborted || atRest + taken.size >= most) return;
    let slot = atRest;
    while (taken.has(slot)) slot += 1;
    taken.add(slot);
    void this.#keepSpare(this.#offer(kind, slot)).finally(() => taken.delete(slot));
  }

  /** Until it is used up, or not needed. */
  async #keepSpare(offer: ConnectionOffer): Promise<void> {
    while (await this.#gate.pass(SPARE_RANK[offer.kind], this.#options.signal)) {
      const socket = await this.#dial(offer);
      if (!socket) continue;
      if (offer.kind === 'upgrade') return await this.#keepUpgrade(socket, { spare: true });
      if ((await this.#keepSession(socket, offer, { spare: true })) === 'idle') return;
    }
  }

  #onCall({ kind }: ConnectionOffer, long: boolean): void {
    if (long && kind !== 'long') this.#addSpare('long');
    if ([...this.#short].every((session) => session.calls > BUSY_CALLS)) this.#addSpare('short');
  }

  async #dial(offer: ConnectionOffer): Promise<Duplex | undefined> {
    const { dial, signal } = this.#options;
    const { clock, limits } = this.#context;
    const giveUp = new AbortController();
    const cancelTimer = clock.setTimer(
      () => giveUp.abort(new Error(`no connection within ${limits.handshakeTimeoutMs} ms`)),
      limits.handshakeTimeoutMs,
    );
    try {
      const socket = await dial(offer, AbortSignal.any([signal, giveUp.signal]));
      await whenFlushed(socket);
      takeOver(socket, { halfOpen: offer.kind === 'upgrade' });
      if (!signal.aborted) return socket;
      socket.destroy();
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    } finally {
      cancelTimer();
    }
    return undefined;
  }

  /** Returns when it is over, and why: it was idle, or another is wanted in its place. */
  async #keepSession(socket: Duplex, offer: ConnectionOffer, { spare }: { spare: boolean }): Promise<'idle' | 'lost'> {
    const session = new AgentSession(socket, this.#context, {
      onCall: (long) => this.#onCall(offer, long),
      onWant: () => this.#addSpare('upgrade'),
    });
    this.#track(session);
    const works = await Promise.race([session.ready, this.#aborted]);
    if (this.#options.signal.aborted) return 'lost';
    this.#options.onTried?.(socket, works === true);
    if (!works) {
      this.#failed(new Error('the hub did not begin to speak'));
      return 'lost';
    }
    const { counters } = this.#context;
    this.#gate.succeed();
    this.#serving += 1;
    countConnection(counters, offer.kind, socket, 1);
    if (this.#serving === 1) this.#tell({ state: 'connected' });
    if (offer.kind === 'short') this.#short.add(session);
    let idle = false;
    if (spare) session.drainWhenIdle(() => (idle = true));
    void session.ended.then((reason) => {
      this.#count(socket, offer.kind, reason);
      if (reason === 'dead') this.#endOldPipes();
    });
    const reason = await Promise.race([session.leaving, this.#aborted]);
    this.#serving -= 1;
    this.#short.delete(session);
    if (idle) return 'idle';
    if (reason === undefined) return 'lost';
    this.#gate.lose();
    this.#options.logger?.debug({ ...offer, reason }, 'tunnel connection ended');
    if (this.#serving === 0) this.#tell({ state: 'disconnected', reason: `the connection ended (${reason})` });
    return 'lost';
  }

  async #keepUpgrade(socket: Duplex, { spare }: { spare: boolean }): Promise<void> {
    const upgrade = new AgentUpgrade(socket, this.#context);
    const { counters } = this.#context;
    this.#track(upgrade);
    this.#gate.succeed();
    countConnection(counters, 'upgrade', socket, 1);
    void upgrade.ended.then(() => this.#count(socket, 'upgrade', upgrade.reason));
    const reason = await Promise.race([upgrade.idleUntil, this.#aborted]);
    if (this.#options.signal.aborted) return;
    // Who takes one often takes more.
    if (reason === undefined) this.#addSpare('upgrade');
    else if (!spare) this.#gate.lose();
  }

  #track(connection: AgentSession | AgentUpgrade): void {
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
  }

  /** A byte pipe cannot tell by itself that the line is gone: none outlives the last session that stood when it came. */
  #endOldPipes(): void {
    for (const connection of this.#connections) {
      if (connection instanceof AgentSession) return;
      connection.end('dead');
    }
  }

  #count(socket: Duplex, kind: ConnectionKind, reason: EndReason): void {
    const { counters } = this.#context;
    const { ended } = counters;
    countConnection(counters, kind, socket, -1);
    ended[reason] = (ended[reason] ?? 0) + 1;
  }

  #failed(error: unknown): void {
    const refused = isTunnelError(error, 'REFUSED');
    const minimum = isTunnelError(error) ? error.retryAfterMs : undefined;
    const retryInMs = this.#gate.fail(minimum ?? (refused ? this.#reconnect.refusedMs : 0));
    const reason = messageOf(error);
    this.#options.logger?.debug({ reason, retryInMs }, 'tunnel connection failed');
    if (this.#serving === 0) this.#tell({ state: 'disconnected', reason, retryInMs });
  }

  /** Says what is new; the same failure again is not. */
  #tell(state: TunnelAgentState): void {
    const { logger, onStateChange } = this.#options;
    const before = this.#told;
    this.#told = state;
    onStateChange?.(state);
    if (before?.state === state.state && before.reason === state.reason) return;
    if (state.state === 'disconnected') logger?.warn(state, 'tunnel disconnected');
    else logger?.info(state, `tunnel ${state.state}`);
  }

  async #drain(): Promise<void> {
    const { clock, limits } = this.#context;
    for (const connection of this.#connections) {
      if (connection instanceof AgentSession) connection.drain();
      else if (connection.idle) connection.end('drained');
    }
    const cancelTimer = clock.setTimer(() => {
      for (const connection of this.#connections) connection.end('drained');
    }, limits.drainTimeoutMs);
    await Promise.all([...this.#connections].map((connection) => connection.ended));
    cancelTimer();
  }
}
