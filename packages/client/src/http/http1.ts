import type { Socket } from 'node:net';
import type { Client } from 'undici';
import { unlessAborted } from '../abort.ts';
import type { TransportRequest, TransportResponse, UpgradeResponse } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import { exchangeOverHttp1 } from './http1-exchange.ts';
import { upgradeOverHttp1 } from './http1-upgrade.ts';
import { isConnectionLost } from './network-error.ts';
import { isRead } from './replay.ts';
import type { ResponseTimer } from './response-timer.ts';

/** How long a connection is kept that nobody uses, where the server does not say less. */
const KEEP_MS = 60_000;

/** One connection, which is dialled with its first request. */
interface Line {
  client: Client;
  /** It has carried a request before. */
  kept: boolean;
}

/**
 * HTTP/1.1 to one endpoint: connections are kept and used again; an upgrade gets one of its own. Requests go by undici, at a third
 * of what they cost by Node's own client; it is loaded with the first request, because few servers lack HTTP/2.
 */
export class Http1Connections {
  readonly #endpoint: Endpoint;
  readonly #responseTimer: ResponseTimer;
  readonly #lines = new Set<Line>();
  /** The one used last is used first. */
  #idle: Line[] = [];
  readonly #upgraded = new Set<Socket>();
  #draining = false;
  #closed: Error | undefined;

  constructor(endpoint: Endpoint, responseTimer: ResponseTimer) {
    this.#endpoint = endpoint;
    this.#responseTimer = responseTimer;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    for (;;) {
      const line = this.#idle.pop() ?? (await this.#open());
      const { kept } = line;
      line.kept = true;
      try {
        return await this.#exchange(line, request);
      } catch (error) {
        // The server closed a kept connection just as it was used again. A read can be said twice. The next kept one may be
        // dead too; this ends at the first that is new.
        if (!kept || !isRead(request) || !isConnectionLost(error)) throw error;
      }
    }
  }

  async upgrade(request: TransportRequest): Promise<UpgradeResponse | TransportResponse> {
    const { socket } = await unlessAborted(this.#endpoint.dial(['http/1.1']), request.signal);
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    try {
      request.admit?.();
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return await upgradeOverHttp1(socket, request, this.#endpoint, this.#responseTimer);
  }

  get inUse(): boolean {
    return this.#upgraded.size > 0 || this.#lines.size > this.#idle.length;
  }

  /** Ends what is idle now, and the rest as it ends. */
  drain(): void {
    this.#draining = true;
    for (const line of this.#idle) this.#drop(line); // It replaces the array.
  }

  close(error: Error): void {
    this.#closed = error;
    for (const line of this.#lines) this.#drop(line, error);
    for (const socket of this.#upgraded) socket.destroy();
  }

  async #open(): Promise<Line> {
    const { Client: Http1Client } = await import('undici');
    if (this.#closed) throw this.#closed;
    const client = new Http1Client(this.#endpoint.server, {
      connect: (_, done) => {
        this.#endpoint.dial(['http/1.1']).then(
          ({ socket }) => done(null, socket),
          (error: Error) => done(error, null),
        );
      },
      keepAliveTimeout: KEEP_MS,
      // A watch may be silent for as long as it likes; the head has a timer of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const line: Line = { client, kept: false };
    this.#lines.add(line);
    client.on('disconnect', () => {
      if (this.#idle.includes(line)) this.#drop(line);
    });
    return line;
  }

  #exchange(line: Line, request: TransportRequest): Promise<TransportResponse> {
    const { server, host, basePath } = this.#endpoint;
    return exchangeOverHttp1(line.client, request, {
      server,
      host,
      basePath,
      responseTimer: this.#responseTimer,
      onOver: (reusable) => {
        if (reusable && !this.#draining && this.#lines.has(line)) this.#idle.push(line);
        else this.#drop(line);
      },
    });
  }

  #drop(line: Line, error?: Error): void {
    if (!this.#lines.delete(line)) return;
    this.#idle = this.#idle.filter((each) => each !== line);
    void line.client.destroy(error ?? null);
  }
}
