import { Duplex } from 'node:stream';
import { UnreadBytes } from './unread-bytes.ts';
import { WebSocketConnection } from './websocket-connection.ts';
import type { WebSocketRole } from './websocket-frames.ts';

/** A byte stream in the binary messages of a WebSocket connection, however they are cut. */
export class WebSocketTunnel extends Duplex {
  readonly #connection: WebSocketConnection;
  readonly #role: WebSocketRole;
  readonly #unread = new UnreadBytes(this);

  constructor(transport: Duplex, options: { role: WebSocketRole }) {
    super({ allowHalfOpen: true });
    this.#role = options.role;
    this.#connection = new WebSocketConnection(transport, options);
    this.on('error', () => {}); // Whoever reads is told by its end.
  }

  /** Until the connection ends. */
  async run(): Promise<void> {
    await this.#connection.run(({ data }) => this.#unread.push(data));
    this.push(null);
    // What a server said last is read by its client; a client that is gone gets no answer.
    if (this.#role === 'server' || this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  override _read(): void {
    this.#unread.wake();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#connection.send([chunk], { taken: () => callback() });
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#connection.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#unread.wake();
    this.#connection.close();
    callback(error);
  }
}
