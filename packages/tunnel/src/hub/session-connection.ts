import type { Duplex } from 'node:stream';
import type { Clock, TransportRequest } from '@asterism/client';
import type { BufferCollection } from '@asterism/runtime';
import type { EndReason, TunnelCounters } from '../counters.ts';
import type { TunnelLimits } from '../limits.ts';
import { FrameSession } from '../frames/frame-session.ts';
import { TunnelError } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import type { ConnectionOffer } from '../wire/connection-offer.ts';
import { startHeartbeat } from '../wire/heartbeat.ts';
import type { Delivery, RunningRequest } from './delivery.ts';
import { sendFrames } from './send-frames.ts';
import type { StalledBodies } from './stalled-bodies.ts';

export interface SessionConnectionOptions {
  name: string;
  socket: Duplex;
  offer: ConnectionOffer;
  /** How many connections of the agent came before. */
  order: number;
  limits: TunnelLimits;
  clock: Clock;
  counters: TunnelCounters;
  stalled: StalledBodies;
  buffers: BufferCollection;
  /** The agent has begun to speak: requests may be sent. Not called when it ends first. */
  onReady: () => void;
  /** It takes no new requests any more. */
  onDraining: () => void;
  /** Called once. */
  onEnd: (reason: EndReason) => void;
}

/**
 * One connection of calls, seen from the hub: opening → ready → (draining →) ended. Requests that run when it ends fail with the
 * reason.
 */
export class SessionConnection {
  readonly offer: ConnectionOffer;
  readonly order: number;
  readonly #options: SessionConnectionOptions;
  readonly #session: FrameSession;
  readonly #meter: ByteMeter;
  readonly #running = new Set<RunningRequest>();
  #ready = false;
  #draining = false;
  #ended: EndReason | undefined;
  #stopHeartbeat = (): void => {};

  constructor(options: SessionConnectionOptions) {
    this.#options = options;
    this.offer = options.offer;
    this.order = options.order;
    this.#meter = new ByteMeter(options.socket, options.counters);
    this.#session = new FrameSession(options.socket, options.limits, { opens: true, buffers: options.buffers });
    const cancelHandshake = options.clock.setTimer(() => this.end('handshake'), options.limits.handshakeTimeoutMs, {
      background: true,
    });
    this.#session.once('remoteSettings', () => {
      cancelHandshake();
      this.#becomeReady();
    });
    this.#session.on('goaway', () => this.#beginDraining());
    this.#session.on('error', () => this.end(this.#ready ? 'reset' : 'handshake'));
    this.#session.once('close', () => {
      cancelHandshake();
      this.end(this.#draining ? 'drained' : this.#ready ? 'closed' : 'handshake');
    });
  }

  get ready(): boolean {
    return this.#ready && this.#ended === undefined;
  }

  get draining(): boolean {
    return this.#draining;
  }

  get openStreams(): number {
    return this.#running.size;
  }

  /** Whether it takes a request now. */
  get usable(): boolean {
    return this.ready && !this.#draining && !this.#session.closed && this.#running.size < this.#capacity;
  }

  /** Whether it ever was. */
  get wasReady(): boolean {
    return this.#ready;
  }

  get #capacity(): number {
    return Math.min(
      this.#options.limits.maxStreams,
      this.#session.remoteSettings.maxConcurrentStreams ?? this.#options.limits.maxStreams,
    );
  }

  /** @param mine holds the request too, for as long as it runs. */
  send(request: TransportRequest, mine: Set<RunningRequest>): Promise<Delivery> {
    const { name, limits, counters, stalled } = this.#options;
    counters.streams += 1;
    const context = {
      name,
      maxHeaderBytes: limits.maxHeaderBytes,
      stalled,
      running: [this.#running, mine],
      ended: () => this.#whyLost(),
      onReset: (cause: string) => {
        counters.resets[cause] = (counters.resets[cause] ?? 0) + 1;
      },
    };
    return sendFrames(this.#session, request, context);
  }

  /** Asks the agent for a byte pipe. */
  wantPipe(): void {
    this.#session.wantPipe();
  }

  /** Brings the byte counters up to date. */
  meter(): void {
    this.#meter.read();
  }

  /** Takes no new request, tells the agent so, breaks off long ones, and ends after the last that runs. */
  drain(): void {
    this.#beginDraining();
    const error = new TunnelError('CLOSED', `tunnel to "${this.#options.name}": this end is shutting down; ask again`);
    for (const running of this.#running) {
      if (running.long) running.fail(error);
    }
    this.#session.close();
  }

  /** Ends it now, with everything on it. */
  end(reason: EndReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#stopHeartbeat();
    this.#meter.read();
    // With an error: without one Node ends the bodies of open streams as if they were complete.
    this.#session.destroy(new TunnelError('LOST', `the connection ended (${reason})`));
    this.#options.socket.destroy();
    this.#options.onEnd(reason);
  }

  #becomeReady(): void {
    const { clock, counters, limits, socket } = this.#options;
    this.#ready = true;
    this.#stopHeartbeat = startHeartbeat(this.#session, socket, {
      intervalMs: limits.pingIntervalMs,
      timeoutMs: limits.pingTimeoutMs,
      clock,
      sparing: true,
      onRoundTrip: (ms) => {
        counters.roundTripMs = ms;
        this.#meter.read();
      },
      onDead: () => this.end('dead'),
    });
    this.#options.onReady();
  }

  #beginDraining(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#options.onDraining();
  }

  /** Streams close before their session tells why. */
  #whyLost(): string | undefined {
    if (this.#ended !== undefined) return this.#ended;
    if (this.#draining) return 'drained';
    return this.#session.destroyed || this.#options.socket.destroyed ? 'closed' : undefined;
  }
}
