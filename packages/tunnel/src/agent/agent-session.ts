import type { Duplex } from 'node:stream';
import { Reset } from '../frames/frame.ts';
import type { EndReason } from '../counters.ts';
import { FrameSession } from '../frames/frame-session.ts';
import { TunnelError } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import { startHeartbeat } from '../wire/heartbeat.ts';
import type { ServeContext } from './serve-context.ts';
import { serveFrames } from './serve-frames.ts';

/** What an agent does for its sessions. */
export interface SessionListener {
  /** A call begins. */
  onCall(long: boolean): void;
  /** The hub wants a byte pipe. */
  onWant(): void;
}

/** A call that runs. */
export interface ServedCall {
  breakOff(error: Error): void;
}

/**
 * One connection of calls, seen from the agent: opening → ready → (leaving →) ended.
 */
export class AgentSession {
  /** The hub has begun to speak; false when it ended before. */
  readonly ready: Promise<boolean>;
  /** It brings no more requests: the hub drains it, or it ended. */
  readonly leaving: Promise<EndReason>;
  readonly ended: Promise<EndReason>;
  readonly #socket: Duplex;
  readonly #context: ServeContext;
  readonly #session: FrameSession;
  readonly #meter: ByteMeter;
  readonly #long = new Set<ServedCall>();
  readonly #listener: SessionListener;
  #calls = 0;
  /** Calls that began, those that have ended included. */
  #served = 0;
  readonly #settleReady: (ready: boolean) => void;
  readonly #settleLeaving: (reason: EndReason) => void;
  readonly #settleEnded: (reason: EndReason) => void;
  #isReady = false;
  #draining = false;
  #over = false;
  #stopHeartbeat = (): void => {};

  constructor(socket: Duplex, context: ServeContext, listener: SessionListener) {
    this.#socket = socket;
    this.#context = context;
    this.#listener = listener;
    ({ promise: this.ready, resolve: this.#settleReady } = Promise.withResolvers<boolean>());
    ({ promise: this.leaving, resolve: this.#settleLeaving } = Promise.withResolvers<EndReason>());
    ({ promise: this.ended, resolve: this.#settleEnded } = Promise.withResolvers<EndReason>());
    this.#meter = new ByteMeter(socket, context.counters);
    const cancelHandshake = context.clock.setTimer(() => this.end('handshake'), context.limits.handshakeTimeoutMs);
    void this.ended.then(cancelHandshake);
    this.#session = this.#open(cancelHandshake);
  }

  /** That run now. */
  get calls(): number {
    return this.#calls;
  }

  /** Drains it when no call has come for `spareIdleMs`, and none runs. */
  drainWhenIdle(onIdle: () => void): void {
    const { clock, limits } = this.#context;
    let seen = this.#served;
    let cancel = (): void => {};
    const look = (): void => {
      if (this.#calls === 0 && this.#served === seen) {
        onIdle();
        return this.drain();
      }
      seen = this.#served;
      later();
    };
    const later = (): void => {
      cancel = clock.setTimer(look, limits.spareIdleMs, { background: true });
    };
    later();
    void this.ended.then(() => cancel());
  }

  /** Takes no new request, breaks off long ones, lets the others finish and then ends. */
  drain(): void {
    if (this.#over || this.#session.destroyed) return;
    this.#draining = true;
    this.#settleLeaving('drained');
    // LEAVE names the last request that is still answered: what the hub had sent behind it is refused, so it may send it anew.
    this.#session.close();
    for (const call of this.#long) call.breakOff(new TunnelError('CLOSED', 'the agent is shutting down'));
  }

  end(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopHeartbeat();
    this.#meter.read();
    // With an error: without one Node ends the bodies of open streams as if they were complete.
    this.#session.destroy(new TunnelError('LOST', `the connection ended (${reason})`));
    this.#socket.destroy();
    this.#settleReady(false);
    this.#settleLeaving(reason);
    this.#settleEnded(reason);
  }

  #open(cancelHandshake: () => void): FrameSession {
    const { limits, buffers } = this.#context;
    const session = new FrameSession(this.#socket, limits, { opens: false, buffers });
    session.on('want', () => this.#listener.onWant());
    session.on('stream', (stream) => {
      serveFrames(stream, this.#context, { onBegin: (call, long) => this.#count(call, long) });
    });
    session.once('remoteSettings', () => {
      cancelHandshake();
      this.#becomeReady();
    });
    session.on('goaway', () => {
      this.#draining = true;
      this.#settleLeaving('drained');
    });
    session.on('error', () => this.end(this.#isReady ? 'reset' : 'handshake'));
    session.once('close', () => this.end(this.#draining ? 'drained' : this.#isReady ? 'closed' : 'handshake'));
    return session;
  }

  #becomeReady(): void {
    const { limits, clock, counters } = this.#context;
    this.#isReady = true;
    this.#stopHeartbeat = startHeartbeat(this.#session, this.#socket, {
      intervalMs: limits.pingIntervalMs,
      timeoutMs: limits.pingTimeoutMs,
      clock,
      sparing: false,
      onRoundTrip: (ms) => {
        counters.roundTripMs = ms;
        this.#meter.read();
      },
      onDead: () => this.end('dead'),
    });
    this.#settleReady(true);
  }

  /** A call begins. @returns what is to be called when it has ended, with the code of its reset. */
  #count(call: ServedCall, long: boolean): (code: number) => void {
    const { counters } = this.#context;
    counters.streams += 1;
    counters.openStreams += 1;
    this.#calls += 1;
    this.#served += 1;
    if (long) this.#long.add(call);
    this.#listener.onCall(long);
    return (code) => {
      counters.openStreams -= 1;
      this.#calls -= 1;
      this.#long.delete(call);
      if (code === Reset.none) return;
      counters.resets[`code ${code}`] = (counters.resets[`code ${code}`] ?? 0) + 1;
    };
  }
}
