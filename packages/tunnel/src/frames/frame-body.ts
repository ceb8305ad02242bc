import { Readable } from 'node:stream';
import type { BufferCollection } from '@asterism/runtime';
import type { FrameStream } from './frame-stream.ts';

const HIGH_WATER_MARK = 64 << 10;
const MAX_JOINED = 128 << 10;

export interface FrameBodyOptions {
  /** Called when it is destroyed before its end, while more may come. */
  onLeft: () => void;
  stalled?: StallWatch;
  /**
   * Makes one piece of what came together: for a reader to whom each costs more than its bytes do, as HTTP/1.1 does that says the length of
   * each. Told of the bytes, as they are in buffers of their own.
   */
  joined?: BufferCollection;
}

/** Told of a body whose reader stops, and goes on. */
export interface StallWatch {
  add(body: FrameBody): void;
  delete(body: FrameBody): void;
}

/**
 * A body that comes over a stream of frames. Ends only when the other end said so; what else becomes of it is an error. While its reader
 * stops, the stream's window is all that comes.
 */
export class FrameBody extends Readable {
  readonly #stream: FrameStream;
  readonly #onLeft: () => void;
  readonly #stalled: StallWatch | undefined;
  readonly #joined: BufferCollection | undefined;
  /** Came, and was not passed on yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #wanted = false;
  #complete = false;
  /** More of what came is about to be told. */
  #gathering = false;
  #over = false;

  constructor(stream: FrameStream, { onLeft, stalled, joined }: FrameBodyOptions) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#stream = stream;
    this.#onLeft = onLeft;
    this.#stalled = stalled;
    this.#joined = joined;
    // Whoever reads gets the error; a body that nobody reads must not end the process when its connection is lost.
    this.on('error', () => {});
    stalled?.add(this); // Until somebody begins to read.
  }

  /** Bytes that wait for the reader. */
  get backlog(): number {
    return this.readableLength + this.#heldBytes;
  }

  /** To be followed by {@link pass}, when nothing more is here for now. */
  receive(piece: Buffer, last: boolean): void {
    this.#complete = last;
    this.#gathering = true;
    if (piece.length === 0) return;
    this.#held.push(piece);
    this.#heldBytes += piece.length;
  }

  /** Hands to the reader what came, where it wants more: at one go, as what is written at one go is sent in one piece. */
  pass(): void {
    this.#gathering = false;
    while (this.#wanted && this.#heldBytes > 0) this.#give();
    if (!this.#complete || this.#heldBytes > 0 || this.#over || this.destroyed) return;
    this.#over = true;
    this.push(null);
  }

  override _read(): void {
    this.#wanted = true;
    this.#stalled?.delete(this);
    if (!this.#gathering) this.pass();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stalled?.delete(this);
    this.#stream.read(this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    if (!this.#complete) this.#onLeft();
    callback(error);
  }

  /** Tells the other end, too, that as much more may come. */
  #give(): void {
    const piece = this.#joined ? this.#join(this.#joined) : (this.#held.shift() as Buffer);
    this.#heldBytes -= piece.length;
    this.#stream.read(piece.length);
    if (this.push(piece)) return;
    this.#wanted = false;
    this.#stalled?.add(this);
  }

  #join(buffers: BufferCollection): Buffer {
    let bytes = 0;
    let count = 0;
    while (count < this.#held.length && bytes < MAX_JOINED) bytes += (this.#held[count++] as Buffer).length;
    const pieces = this.#held.splice(0, count);
    if (count === 1) return pieces[0] as Buffer;
    buffers.count(bytes);
    return Buffer.concat(pieces, bytes);
  }
}
