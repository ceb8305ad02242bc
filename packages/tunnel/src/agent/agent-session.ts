import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { EndReason } from '../counters.ts';
import { TunnelError } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import { gatherHeaders } from '../wire/headers.ts';
import { startHeartbeat } from '../wire/heartbeat.ts';
import { breakOff, openServerSession } from '../wire/session.ts';
import type { ServeContext } from './serve-context.ts';
import { isLong, serveStream } from './serve-stream.ts';

/** One reversed HTTP/2 connection, seen from the agent: opening → ready → (leaving →) ended. */
export class AgentSession {
  /** The hub speaks HTTP/2; false when it ended before. */
  readonly ready: Promise<boolean>;
  /** It brings no more requests: the hub drains it, or it ended. */
  readonly leaving: Promise<EndReason>;
  readonly ended: Promise<EndReason>;
  readonly #socket: Duplex;
  readonly #context: ServeContext;
  readonly #session: ServerHttp2Session;
  readonly #meter: ByteMeter;
  readonly #long = new Set<ServerHttp2Stream>();
  readonly #settleReady: (ready: boolean) => void;
  readonly #settleLeaving: (reason: EndReason) => void;
  readonly #settleEnded: (reason: EndReason) => void;
  #isReady = false;
  #draining = false;
  #over = false;
  #stopHeartbeat = (): void => {};

  constructor(socket: Duplex, context: ServeContext) {
    this.#socket = socket;
    this.#context = context;
    ({ promise: this.ready, resolve: this.#settleReady } = Promise.withResolvers<boolean>());
    ({ promise: this.leaving, resolve: this.#settleLeaving } = Promise.withResolvers<EndReason>());
    ({ promise: this.ended, resolve: this.#settleEnded } = Promise.withResolvers<EndReason>());
    this.#meter = new ByteMeter(socket, context.counters);
    this.#session = openServerSession(socket, context.limits);
    const cancelHandshake = context.clock.setTimer(() => this.end('handshake'), context.limits.handshakeTimeoutMs);
    this.#session.once('remoteSettings', () => {
      cancelHandshake();
      this.#becomeReady();
    });
    this.#session.on('stream', (stream, _headers, _flags, raw) => this.#serve(stream, raw as unknown as string[]));
    this.#session.on('goaway', () => {
      this.#draining = true;
      this.#settleLeaving('drained');
    });
    this.#session.on('error', () => this.end(this.#isReady ? 'reset' : 'handshake'));
    this.#session.once('close', () => {
      cancelHandshake();
      this.end(this.#draining ? 'drained' : this.#isReady ? 'closed' : 'handshake');
    });
  }

  /** Takes no new request, breaks off long ones, lets the others finish and then ends. */
  drain(): void {
    if (this.#over || this.#session.destroyed) return;
    this.#draining = true;
    this.#settleLeaving('drained');
    // GOAWAY names the last request that is still answered: what the hub had sent behind it is refused, so it may send it anew.
    this.#session.close();
    for (const stream of this.#long) breakOff(stream, new TunnelError('CLOSED', 'the agent is shutting down'));
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

  #becomeReady(): void {
    const { limits, clock, counters } = this.#context;
    this.#isReady = true;
    this.#stopHeartbeat = startHeartbeat(this.#session, this.#socket, {
      intervalMs: limits.pingIntervalMs,
      timeoutMs: limits.pingTimeoutMs,
      clock,
      onRoundTrip: (ms) => {
        counters.roundTripMs = ms;
        this.#meter.read();
      },
      onDead: () => this.end('dead'),
    });
    this.#settleReady(true);
  }

  #serve(stream: ServerHttp2Stream, raw: string[]): void {
    const { counters } = this.#context;
    const headers = gatherHeaders(raw);
    counters.streams += 1;
    counters.openStreams += 1;
    if (isLong(headers)) this.#long.add(stream);
    stream.once('close', () => {
      counters.openStreams -= 1;
      this.#long.delete(stream);
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
        counters.resets[`code ${stream.rstCode}`] = (counters.resets[`code ${stream.rstCode}`] ?? 0) + 1;
      }
    });
    serveStream(stream, headers, this.#context).catch((error: Error) => breakOff(stream, error));
  }
}
