import { type Duplex, Readable } from 'node:stream';
import type { Clock, TransportResponse, UpgradeResponse } from '@asterism/client';
import type { EndReason, TunnelCounters } from '../counters.ts';
import type { TunnelLimits } from '../limits.ts';
import { TunnelError } from '../tunnel-error.ts';
import { ByteMeter } from '../wire/byte-meter.ts';
import type { ConnectionOffer } from '../wire/connection-offer.ts';
import { readFailure } from '../wire/failure-headers.ts';
import { forwardedHeaders, headerValue } from '../wire/headers.ts';
import { parseResponseHead, readHead } from '../wire/http-head.ts';
import { type IdleProbe, startIdleProbe } from '../wire/idle-probe.ts';
import { messageOf } from '../wire/message-of.ts';

export interface UpgradeConnectionOptions {
  name: string;
  socket: Duplex;
  offer: ConnectionOffer;
  /** How many connections of the agent came before. */
  order: number;
  limits: TunnelLimits;
  clock: Clock;
  counters: TunnelCounters;
  /** Called once, whether it was idle or in use. */
  onEnd: (reason: EndReason) => void;
}

/**
 * A connection that carries one upgrade, seen from the hub: idle → taken → spliced (or answered otherwise) → ended. While idle
 * and until the answer it is probed by blank lines; from then on its bytes belong to the two ends.
 */
export class UpgradeConnection {
  readonly offer: ConnectionOffer;
  readonly order: number;
  readonly #options: UpgradeConnectionOptions;
  readonly #meter: ByteMeter;
  readonly #probe: IdleProbe;
  readonly #answer: Promise<string[]>;
  #taken = false;
  #ended = false;

  constructor(options: UpgradeConnectionOptions) {
    const { socket, limits, clock, counters } = options;
    this.#options = options;
    this.offer = options.offer;
    this.order = options.order;
    this.#meter = new ByteMeter(socket, counters);
    this.#probe = startIdleProbe(socket, {
      intervalMs: limits.pingIntervalMs,
      timeoutMs: limits.pingTimeoutMs,
      clock,
      onDead: () => this.end('dead'),
    });
    this.#answer = readHead(socket, { maxBytes: limits.maxHeaderBytes, onBlankLine: () => this.#probe.alive() });
    this.#answer.then(
      () => this.#taken || this.end('reset'), // An answer that nobody asked for.
      () => this.#taken || this.end('closed'),
    );
    let broken = false;
    socket.on('error', () => {
      broken = true;
    });
    socket.once('close', () => this.end(broken ? 'reset' : 'closed'));
  }

  get idle(): boolean {
    return !this.#taken && !this.#ended;
  }

  /** Takes it out of the idle ones, if it is among them: the caller then calls {@link exchange}. */
  reserve(): boolean {
    if (!this.idle) return false;
    this.#taken = true;
    this.#options.counters.streams += 1;
    return true;
  }

  /** Sends the one request of this connection, its head as text, and waits for the head of the answer. */
  async exchange(head: string, signal: AbortSignal | undefined): Promise<UpgradeResponse | TransportResponse> {
    const { name, socket } = this.#options;
    const onAbort = (): void => void socket.destroy();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      signal?.throwIfAborted();
      this.#probe.stopSending();
      socket.write(head);
      return this.#respond(await this.#answer);
    } catch (cause) {
      socket.destroy();
      signal?.throwIfAborted();
      if (cause instanceof TunnelError && cause.reason !== 'LOST') throw cause;
      throw new TunnelError('LOST', `tunnel to "${name}": no answer to the upgrade: ${messageOf(cause)}`, { cause });
    } finally {
      this.#probe.stop();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Brings the byte counters up to date. */
  meter(): void {
    this.#meter.read();
  }

  end(reason: EndReason): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#probe.stop();
    this.#meter.read();
    this.#options.socket.destroy();
    this.#options.onEnd(reason);
  }

  #respond(lines: readonly string[]): UpgradeResponse | TransportResponse {
    const { name, socket } = this.#options;
    const { status, headers } = parseResponseHead(lines);
    const failed = readFailure(headers, `tunnel to "${name}"`);
    if (failed) throw failed;
    if (status === 101) {
      const upgrade = headerValue(headers, 'upgrade');
      const kept = {
        ...forwardedHeaders(headers),
        connection: 'Upgrade',
        ...(upgrade === undefined ? {} : { upgrade }),
      };
      return { status, headers: kept, socket };
    }
    if (status < 200) {
      throw new TunnelError(
        'PROTOCOL',
        `tunnel to "${name}": the agent breaks the protocol: an answer of status ${status}`,
      );
    }
    return { status, headers: forwardedHeaders(headers), body: bodyOf(socket, name) };
  }
}

/** The body of an answer that is no upgrade: everything until the connection ends. */
function bodyOf(socket: Duplex, name: string): Readable {
  const body = new Readable({
    read: () => void socket.resume(),
    destroy(error, callback) {
      socket.destroy();
      callback(error);
    },
  });
  body.on('error', () => {}); // As for ResponseBody.
  socket.on('data', (chunk: Buffer) => {
    if (!body.push(chunk)) socket.pause();
  });
  socket.once('end', () => {
    body.push(null);
    socket.end();
  });
  socket.once('close', () => {
    if (!socket.readableEnded) {
      body.destroy(new TunnelError('LOST', `tunnel to "${name}": the connection broke in the middle of an answer`));
    }
  });
  return body;
}
