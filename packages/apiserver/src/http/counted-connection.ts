import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { HeaderFieldCounter } from './header-field-counter.ts';

/** The bytes of a TLS connection, both ways, with a counter of the header fields that its client sends over HTTP/2. */
export class CountedConnection extends Duplex {
  readonly fields = new HeaderFieldCounter();
  /** As HTTP/2 asks a socket for them. */
  readonly encrypted = true;
  readonly alpnProtocol = 'h2';
  readonly #socket: TLSSocket;

  constructor(socket: TLSSocket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on('data', (piece: Buffer) => {
      this.fields.push(piece);
      if (!this.push(piece)) socket.pause();
    });
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(piece: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(piece, done);
  }

  override _writev(pieces: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const socket = this.#socket;
    const last = pieces.length - 1;
    socket.cork();
    pieces.forEach(({ chunk }, index) => (index === last ? socket.write(chunk, done) : socket.write(chunk)));
    socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
