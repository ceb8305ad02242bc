import { Duplex } from 'node:stream';
import { WebSocketConnection } from '@asterism/client';

const MAX_HELD_BYTES = 256 * 1024;

/** A byte stream in the binary messages of a WebSocket connection, however they are cut. */
export class WebSocketTunnel extends Duplex {
  readonly #connection: WebSocketConnection;
  #onRead: (() => void) | undefined;

  constructor(transport: Duplex) {
    super({ allowHalfOpen: true });
    this.#connection = new WebSocketConnection(transport, { role: 'server' });
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
    this.destroy();
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
