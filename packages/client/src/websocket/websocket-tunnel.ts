import { Duplex } from 'node:stream';
import { WebSocketConnection } from './websocket-connection.ts';
import type { WebSocketRole } from './websocket-frames.ts';

const MAX_HELD_BYTES = 256 * 1024;

/** A byte stream in the binary messages of a WebSocket connection, however they are cut. */
export class WebSocketTunnel extends Duplex {
  readonly #connection: WebSocketConnection;
  readonly #role: WebSocketRole;
  #onRead: (() => void) | undefined;

  constructor(transport: Duplex, options: { role: WebSocketRole }) {
    super({ allowHalfOpen: true });
    this.#role = options.role;
    this.#connection = new WebSocketConnection(transport, options);
    this.on('error', () => {}); // Whoever reads is told by its end.
  }

  /** Until the connection ends. */
  async run(): Promise<void> {
    await this.#connection.run(({ data }) => {
      if (this.destroyed || data.length === 0) return undefined;
      this.push(data);
      return this.readableLength > MAX_HELD_BYTES ? this.#drained() : undefined;
    });
    this.push(null);
    // What a server said last is read by its client; a client that is gone gets no answer.
    if (this.#role === 'server' || this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  async #drained(): Promise<void> {
    while (!this.destroyed && this.readableLength > MAX_HELD_BYTES / 2) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve;
      });
    }
  }

  override _read(): void {
    this.#onRead?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#connection.send([chunk], { taken: () => callback() });
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#connection.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#onRead?.();
    this.#connection.close();
    callback(error);
  }
}
