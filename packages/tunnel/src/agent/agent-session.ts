import { constants, type ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { EndReason } from '../counters.ts';
import { FrameSession } from '../frames/frame-session.ts';
import { TunnelError } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import { firstByteOf } from '../wire/first-byte.ts';
import { gatherHeaders, isLong } from '../wire/headers.ts';
import { startHeartbeat } from '../wire/heartbeat.ts';
import { breakOff, openServerSession } from '../wire/session.ts';
import type { ServeContext } from './serve-context.ts';
import { serveFrames } from './serve-frames.ts';
import { serveStream } from './serve-stream.ts';

/** The first byte of HTTP/2, `PRI * HTTP/2.0`; no frame begins so. */
const HTTP2_BEGINS = 'P'.charCodeAt(0);

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
 * One connection of calls, seen from the agent: opening → ready → (leaving →) ended. The hub begins, and so says what it speaks:
 * frames, or reversed HTTP/2.
 */
export class AgentSession {
  /** The hub speaks HTTP/2; false when it ended before. */
  readonly ready: Promise<boolean>;
  /** It brings no more requests: the hub drains it, or it ended. */
  readonly leaving: Promise<EndReason>;
  readonly ended: Promise<EndReason>;
  readonly #socket: Duplex;
  readonly #context: ServeContext;
  #session: ServerHttp2Session | FrameSession | undefined;
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
    firstByteOf(socket).then(
      (first) => this.#begin(first === HTTP2_BEGINS ? this.#openHttp2() : this.#openFrames(), cancelHandshake),
      () => this.end('handshake'),
    );
  }

  /** That run now. */
  get calls(): number {
    return this.#calls;
  }

  /** The hub speaks frames, and so can ask for byte pipes. */
  get framed(): boolean {
    return this.#session instanceof FrameSession;
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
    if (!this.#session) return this.end('drained');
    if (this.#over || this.#session.destroyed) return;
    this.#draining = true;
    this.#settleLeaving('drained');
    // GOAWAY names the last request that is still answered: what the hub had sent behind it is refused, so it may send it anew.
    this.#session.close();
    for (const call of this.#long) call.breakOff(new TunnelError('CLOSED', 'the agent is shutting down'));
  }

  end(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopHeartbeat();
    this.#meter.read();
    // With an error: without one Node ends the bodies of open streams as if they were complete.
    this.#session?.destroy(new TunnelError('LOST', `the connection ended (${reason})`));
    this.#socket.destroy();
    this.#settleReady(false);
    this.#settleLeaving(reason);
    this.#settleEnded(reason);
  }

  #openHttp2(): ServerHttp2Session {
    const session = openServerSession(this.#socket, this.#context.limits);
    session.on('stream', (stream, _headers, _flags, raw) => {
      const headers = gatherHeaders(raw as unknown as string[]);
      const call = { breakOff: (error: Error) => breakOff(stream, error) };
      const onClose = this.#count(call, isLong(headers));
      stream.once('close', () => onClose(stream.rstCode ?? constants.NGHTTP2_NO_ERROR));
      serveStream(stream, headers, this.#context).catch(call.breakOff);
    });
    return session;
  }

  #openFrames(): FrameSession {
    const { limits, buffers } = this.#context;
    const session = new FrameSession(this.#socket, limits, { opens: false, buffers });
    session.on('want', () => this.#listener.onWant());
    session.on('stream', (stream) => {
      serveFrames(stream, this.#context, { onBegin: (call, long) => this.#count(call, long) });
    });
    return session;
  }

  #begin(session: ServerHttp2Session | FrameSession, cancelHandshake: () => void): void {
    if (this.#over) return session.destroy();
    this.#session = session;
    session.once('remoteSettings', () => {
      cancelHandshake();
      this.#becomeReady(session);
    });
    session.on('goaway', () => {
      this.#draining = true;
      this.#settleLeaving('drained');
    });
    session.on('error', () => this.end(this.#isReady ? 'reset' : 'handshake'));
    session.once('close', () => this.end(this.#draining ? 'drained' : this.#isReady ? 'closed' : 'handshake'));
  }

  #becomeReady(session: ServerHttp2Session | FrameSession): void {
    const { limits, clock, counters } = this.#context;
    this.#isReady = true;
    this.#stopHeartbeat = startHeartbeat(session, this.#socket, {
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
      if (code === constants.NGHTTP2_NO_ERROR) return;
      counters.resets[`code ${code}`] = (counters.resets[`code ${code}`] ?? 0) + 1;
    };
  }
}
