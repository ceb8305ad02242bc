import { unlessAborted } from '../abort.ts';
import type { TransportRequest, TransportResponse } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import { Http2Connection, type Http2Options, NotProcessedError } from './http2-connection.ts';
import { isConnectionLost } from './network-error.ts';
import { isRead, isRepeatable } from './replay.ts';

/** How often a request is sent that the server did not answer. */
const ATTEMPTS = 3;

/** As many HTTP/2 connections to one endpoint as its requests need. */
export class Http2Pool {
  readonly #endpoint: Endpoint;
  readonly #options: Http2Options;
  #connections: Http2Connection[] = [];
  #opening: Promise<Http2Connection | undefined> | undefined;
  #draining = false;
  #closed = false;

  constructor(endpoint: Endpoint, options: Http2Options) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  /** Undefined when the server does not speak HTTP/2; then nothing was sent. */
  async request(request: TransportRequest): Promise<TransportResponse | undefined> {
    for (let attempt = 1; ; ) {
      this.#connections = this.#connections.filter((connection) => !connection.ended);
      const connection = this.#connections.find((candidate) => candidate.hasRoom);
      if (!connection) {
        // All who find no room wait for one new connection; those it cannot hold wait for the next.
        this.#opening ??= this.#open().finally(() => {
          this.#opening = undefined;
        });
        if (!(await unlessAborted(this.#opening, request.signal))) return undefined;
        continue;
      }
      try {
        return await connection.request(request);
      } catch (error) {
        if (attempt++ >= ATTEMPTS || !canRepeat(request, error)) throw error;
      }
    }
  }

  get inUse(): boolean {
    return this.#opening !== undefined || this.#connections.some((connection) => !connection.ended);
  }

  /** Lets go of each connection when its last stream ends. */
  drain(): void {
    this.#draining = true;
    for (const connection of this.#connections) connection.drain();
  }

  close(error: Error): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.destroy(error);
    this.#connections = [];
  }

  async #open(): Promise<Http2Connection | undefined> {
    const { socket, protocol } = await this.#endpoint.dial(['h2', 'http/1.1']);
    if (protocol !== 'h2') {
      socket.destroy();
      return undefined;
    }
    const connection = await Http2Connection.open(this.#endpoint, socket, this.#options);
    if (this.#closed) connection.destroy();
    this.#connections.push(connection);
    if (this.#draining) connection.drain();
    return connection;
  }
}

/** What the server did not take, or what a connection that broke had not answered and that changes nothing. */
function canRepeat(request: TransportRequest, error: unknown): boolean {
  if (error instanceof NotProcessedError) return isRepeatable(request);
  return isConnectionLost(error) && isRead(request);
}
