import type { Duplex } from 'node:stream';
import type { Clock } from '@asterism/client';
import type { BufferCollection } from '@asterism/runtime';
import { countConnection, createTunnelCounters, type EndReason, type TunnelCounters } from '../counters.ts';
import type { TunnelLimits } from '../limits.ts';
import { TunnelError } from '../tunnel-error.ts';
import type { ConnectionOffer } from '../wire/connection-offer.ts';
import { whenFlushed } from '../wire/socket.ts';
import { SessionConnection } from './session-connection.ts';
import { StalledBodies } from './stalled-bodies.ts';
import { UpgradeConnection } from './upgrade-connection.ts';
import { UpgradePool } from './upgrade-pool.ts';

export interface AgentConnectionsOptions {
  name: string;
  limits: TunnelLimits;
  clock: Clock;
  buffers: BufferCollection;
  /** The first session became ready, or the last one ended or drains. */
  onChange: (connected: boolean, reason?: EndReason) => void;
  onConnection: (offer: ConnectionOffer) => void;
  onEnd: (offer: ConnectionOffer, reason: EndReason) => void;
}

/**
 * All connections of one agent.
 *
 * - A session replaces the one before it of the same instance, kind and slot, which may be half open.
 * - Of several instances the one that came last is preferred; the others serve while it has no room.
 * - A byte pipe cannot tell by itself that the line is gone. When a session of its instance is found dead or half open and none
 *   is left that stood when the pipe came, the pipe is ended too.
 */
export class AgentConnections {
  readonly #counters: TunnelCounters = createTunnelCounters();
  readonly #options: AgentConnectionsOptions;
  readonly #stalled: StalledBodies;
  readonly #pool: UpgradePool;
  /** Sockets that are still busy with the upgrade that brought them. */
  readonly #arriving = new Set<Duplex>();
  readonly #sessions = new Set<SessionConnection>();
  /** In the order in which they came. */
  readonly #instances: string[] = [];
  #connected = false;
  #accepted = 0;
  /** When it ceased to be connected, unless that was on purpose. */
  #lostAt: number | undefined;
  /** Calls that wait for it to come back. */
  readonly #waiting = new Set<() => void>();

  constructor(options: AgentConnectionsOptions) {
    const { name, limits, clock } = options;
    this.#options = options;
    this.#stalled = new StalledBodies({ name, maxBytes: limits.maxStalledBytes, clock });
    this.#pool = new UpgradePool({
      name,
      maxOpen: limits.maxStreams,
      waitMs: limits.upgradeWaitMs,
      spareIdleMs: limits.spareIdleMs,
      clock,
      ask: () => this.#best(({ ready, draining }) => ready && !draining, false)?.wantPipe(),
    });
  }

  /** Whether a session takes requests, or would if it had room. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Whether nothing is connected, not even half. */
  get empty(): boolean {
    return this.#sessions.size === 0 && this.#pool.size === 0;
  }

  /** Resolves when it is connected, at once where it is; and when it was lost for too long, or `signal` aborts. */
  async comeBack(signal: AbortSignal | undefined): Promise<void> {
    const { clock, limits } = this.#options;
    const leftMs = (this.#lostAt ?? Number.NEGATIVE_INFINITY) + limits.reconnectWaitMs - clock.monotonic();
    if (this.#connected || leftMs <= 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancelTimer();
        signal?.removeEventListener('abort', end);
        this.#waiting.delete(end);
        resolve();
      };
      const cancelTimer = clock.setTimer(end, leftMs, { background: true });
      signal?.addEventListener('abort', end, { once: true });
      this.#waiting.add(end);
    });
  }

  accept(socket: Duplex, offer: ConnectionOffer): void {
    this.#arriving.add(socket);
    void whenFlushed(socket).then(() => {
      if (this.#arriving.delete(socket) && !socket.destroyed) this.#begin(socket, offer);
    });
  }

  #begin(socket: Duplex, offer: ConnectionOffer): void {
    if (!this.#instances.includes(offer.instance)) this.#instances.push(offer.instance);
    if (offer.kind === 'upgrade') this.#acceptUpgrade(socket, offer);
    else this.#acceptSession(socket, offer);
  }

  /** The session for the next request. @throws TunnelError `LIMIT` when all are full. */
  pick(long: boolean): SessionConnection {
    const best = this.#best(({ usable }) => usable, long);
    if (best) return best;
    const { name } = this.#options;
    const used = this.#openStreams();
    throw new TunnelError('LIMIT', `tunnel to "${name}": all its streams are in use (${used}); try again later`);
  }

  reserveUpgrade(signal: AbortSignal | undefined): Promise<UpgradeConnection> {
    return this.#pool.reserve(signal);
  }

  /** Counters, brought up to date. */
  snapshot(): TunnelCounters {
    for (const connection of [...this.#sessions, ...this.#pool.list()]) connection.meter();
    return structuredClone({ ...this.#counters, openStreams: this.#openStreams() });
  }

  /** Takes no new call and ends each connection after the last that runs on it. */
  drain(): void {
    this.#endArriving();
    for (const session of this.#sessions) session.drain();
    this.#pool.endIdle('drained');
  }

  /** The same for one of them; a byte pipe that is in use goes on. */
  drainConnection({ instance, kind, slot }: ConnectionOffer): void {
    const isMeant = ({ offer }: { offer: ConnectionOffer }): boolean =>
      offer.instance === instance && offer.kind === kind && offer.slot === slot;
    for (const session of [...this.#sessions].filter(isMeant)) session.drain();
    for (const pipe of this.#pool.list().filter(isMeant)) if (pipe.idle) pipe.end('drained');
  }

  end(reason: EndReason): void {
    this.#endArriving();
    this.#lostAt = undefined;
    this.#wake();
    for (const session of this.#sessions) session.end(reason);
    this.#pool.end(reason);
  }

  #endArriving(): void {
    for (const socket of this.#arriving) socket.destroy();
    this.#arriving.clear();
  }

  #openStreams(): number {
    let open = this.#pool.list().filter((connection) => !connection.idle).length;
    for (const session of this.#sessions) open += session.openStreams;
    return open;
  }

  #best(serves: (session: SessionConnection) => boolean, long: boolean): SessionConnection | undefined {
    let best: { session: SessionConnection; rank: readonly number[] } | undefined;
    for (const session of this.#sessions) {
      if (!serves(session)) continue;
      const rank = this.#rank(session, long);
      if (!best || isBefore(rank, best.rank)) best = { session, rank };
    }
    return best?.session;
  }

  #rank(session: SessionConnection, long: boolean): readonly number[] {
    const fits = (session.offer.kind === 'long') === long;
    return [-this.#instances.indexOf(session.offer.instance), fits ? 0 : 1, session.openStreams];
  }

  #acceptSession(socket: Duplex, offer: ConnectionOffer): void {
    const session = new SessionConnection({
      ...this.#shared(socket, offer),
      stalled: this.#stalled,
      buffers: this.#options.buffers,
      onReady: () => {
        this.#began(socket, offer);
        this.#replaceOlder(session);
        this.#update();
      },
      onDraining: () => this.#update('drained'),
      onEnd: (reason) => {
        this.#sessions.delete(session);
        if (reason === 'dead' || reason === 'replaced') this.#endOldPipes(offer.instance);
        this.#ended(socket, offer, { reason, counted: session.wasReady });
        this.#update(reason);
      },
    });
    this.#sessions.add(session);
  }

  #acceptUpgrade(socket: Duplex, offer: ConnectionOffer): void {
    const connection = new UpgradeConnection({
      ...this.#shared(socket, offer),
      onEnd: (reason) => {
        this.#pool.delete(connection);
        this.#ended(socket, offer, { reason, counted: true });
      },
    });
    this.#began(socket, offer);
    this.#pool.add(connection);
  }

  #shared(socket: Duplex, offer: ConnectionOffer) {
    const { name, limits, clock } = this.#options;
    this.#accepted += 1;
    return { name, socket, offer, order: this.#accepted, limits, clock, counters: this.#counters };
  }

  #began(socket: Duplex, offer: ConnectionOffer): void {
    countConnection(this.#counters, offer.kind, socket, 1);
    this.#options.onConnection(offer);
  }

  #ended(socket: Duplex, offer: ConnectionOffer, { reason, counted }: { reason: EndReason; counted: boolean }): void {
    if (counted) countConnection(this.#counters, offer.kind, socket, -1);
    this.#counters.ended[reason] = (this.#counters.ended[reason] ?? 0) + 1;
    this.#forget(offer.instance);
    this.#options.onEnd(offer, reason);
  }

  #has(instance: string): boolean {
    return [...this.#sessions].some((session) => session.offer.instance === instance);
  }

  /** Forgets an instance of which nothing is left. */
  #forget(instance: string): void {
    const index = this.#instances.indexOf(instance);
    const left = this.#has(instance) || this.#pool.list().some((pipe) => pipe.offer.instance === instance);
    if (index >= 0 && !left) this.#instances.splice(index, 1);
  }

  #endOldPipes(instance: string): void {
    const orders = [...this.#sessions].filter(({ offer }) => offer.instance === instance).map(({ order }) => order);
    const oldest = Math.min(Number.POSITIVE_INFINITY, ...orders);
    for (const pipe of this.#pool.list()) {
      if (pipe.offer.instance === instance && pipe.order < oldest) pipe.end('dead');
    }
  }

  /** A session that drains may finish; one that only stands in the same place is taken for half open. */
  #replaceOlder({ offer, order }: SessionConnection): void {
    for (const other of this.#sessions) {
      const { instance, kind, slot } = other.offer;
      const same = instance === offer.instance && kind === offer.kind && slot === offer.slot;
      if (same && other.order < order && !other.draining) other.end('replaced');
    }
  }

  #wake(): void {
    for (const end of this.#waiting) end();
  }

  #update(reason?: EndReason): void {
    const connected = [...this.#sessions].some((session) => session.ready && !session.draining);
    if (connected) this.#pool.askAgain();
    if (connected === this.#connected) return;
    this.#connected = connected;
    this.#lostAt = connected || reason === 'disconnected' ? undefined : this.#options.clock.monotonic();
    this.#options.onChange(connected, reason);
    if (connected) return this.#wake();
    this.#pool.failWaiters(
      new TunnelError('NOT_CONNECTED', `tunnel to "${this.#options.name}": its agent disconnected; try again later`),
    );
  }
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at >= 0 && (one[at] as number) < (other[at] as number);
}
