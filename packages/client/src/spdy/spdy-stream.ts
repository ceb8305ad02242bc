import { Duplex } from 'node:stream';
import { ClientError } from '../client-error.ts';
import type { SpdyHeaders } from './header-block.ts';

/** A stream's way to its connection. */
export interface StreamLink {
  /** Sends a part of the bytes, as many as the windows allow, and calls back with how many when more may be sent. */
  sendData(stream: SpdyStream, data: Buffer, sent: (bytes: number) => void): void;
  sendFin(stream: SpdyStream): void;
  sendReset(stream: SpdyStream): void;
  /** The bytes have been read: as many may come again. */
  credit(stream: SpdyStream, bytes: number): void;
  forget(stream: SpdyStream): void;
}

/**
 * What a stream that its peer reset, or lost with the connection, is to who reads it: `drop`, nothing more is read; `break`, it is
 * broken, unless its own end had come before; `end`, what had come is read and then its end, as Go's clients have it.
 */
export type ResetMeans = 'drop' | 'break' | 'end';

/** What a stream may have in flight where nobody says otherwise (SPDY/3, 2.6.8). */
export const WINDOW_BYTES = 64 * 1024;

/** One stream of a connection; each direction ends for itself. Destroyed before both have ended, it is reset. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  /** What the peer lets us send; negative where it has shrunk its windows. */
  sendWindow: number;
  readonly #link: StreamLink;
  readonly #resetMeans: ResetMeans;
  #unread = 0;
  #finSent = false;
  #finReceived = false;
  #resetReceived = false;
  /** Nothing more can be read than has come. */
  #inputEnded = false;

  constructor(
    link: StreamLink,
    options: { id: number; headers: SpdyHeaders; sendWindow: number; resetMeans: ResetMeans },
  ) {
    super({ allowHalfOpen: true, autoDestroy: true, readableHighWaterMark: WINDOW_BYTES });
    this.#link = link;
    this.id = options.id;
    this.headers = options.headers;
    this.sendWindow = options.sendWindow;
    this.#resetMeans = options.resetMeans;
    this.on('error', () => {}); // Whoever reads or writes is told by its end.
  }

  /** Bytes of the peer. False: more are held than it should have sent before it was told to go on. */
  receive(data: Buffer, fin: boolean): boolean {
    if (this.#inputEnded || this.destroyed) return true;
    this.#unread += data.length;
    if (data.length > 0) this.push(data);
    if (fin) {
      this.#finReceived = true;
      this.#endInput();
    }
    return this.readableLength <= WINDOW_BYTES * 4;
  }

  /** By the peer, or by the end of the connection. */
  receiveReset(): void {
    this.#resetReceived = true;
    const readable = this.#resetMeans === 'end' || (this.#resetMeans === 'break' && this.#finReceived);
    if (!readable) {
      const why = new ClientError('the other end gave the stream up', { code: 'ERR_STREAM_LOST' });
      this.destroy(this.#resetMeans === 'break' ? why : undefined);
      return;
    }
    this.#endInput();
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  #endInput(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    this.push(null);
  }

  /** Resolves when little of what was received is left unread. */
  async drained(): Promise<void> {
    while (!this.destroyed && this.readableLength > WINDOW_BYTES) {
      await new Promise<void>((resolve) => {
        this.#onRead = resolve;
      });
    }
  }

  #onRead: (() => void) | undefined;

  /** Each time that something may have been read: {@link _read} is not called again before something has come. */
  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    const read = this.#unread - this.readableLength;
    if (read >= WINDOW_BYTES / 2) {
      this.#unread -= read;
      this.#link.credit(this, read);
    }
    this.#onRead?.();
    return chunk;
  }

  override _read(): void {}

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#resetReceived) return callback(new Error('the stream was reset'));
    if (chunk.length === 0) return callback();
    this.#link.sendData(this, chunk, (bytes) => {
      if (this.destroyed) callback(new Error('the stream is closed'));
      else if (bytes < chunk.length) this._write(chunk.subarray(bytes), encoding, callback);
      else callback();
    });
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#finSent = true;
    this.#link.sendFin(this);
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#resetReceived && !(this.#finSent && this.#finReceived)) this.#link.sendReset(this);
    this.#link.forget(this);
    this.#onRead?.();
    callback(error);
  }
}
