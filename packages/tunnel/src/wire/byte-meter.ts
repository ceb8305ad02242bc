import type { Duplex } from 'node:stream';
import type { TunnelCounters } from '../counters.ts';
import { bytesOf } from './socket.ts';

/** Adds what a socket carried to counters that it shares with other sockets. */
export class ByteMeter {
  readonly #socket: Duplex;
  readonly #counters: TunnelCounters;
  #counted: { received: number; sent: number };

  constructor(socket: Duplex, counters: TunnelCounters) {
    this.#socket = socket;
    this.#counters = counters;
    this.#counted = bytesOf(socket);
  }

  /** Counts what came since the last call. */
  read(): void {
    const now = bytesOf(this.#socket);
    this.#counters.bytesReceived += now.received - this.#counted.received;
    this.#counters.bytesSent += now.sent - this.#counted.sent;
    this.#counted = now;
  }
}
