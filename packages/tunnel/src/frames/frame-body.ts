import { Readable } from 'node:stream';
import type { FrameStream } from './frame-stream.ts';

const HIGH_WATER_MARK = 64 << 10;

export interface FrameBodyOptions {
  /** Called when it is destroyed before its end, while more may come. */
  onLeft: () => void;
  stalled?: StallWatch;
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
  /** Came while the reader did not want more. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #wanted = false;
  #complete = false;

  constructor(stream: FrameStream, { onLeft, stalled }: FrameBodyOptions) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#stream = stream;
    this.#onLeft = onLeft;
    this.#stalled = stalled;
    // Whoever reads gets the error; a body that nobody reads must not end the process when its connection is lost.
    this.on('error', () => {});
    stalled?.add(this); // Until somebody begins to read.
  }

  /** Bytes that wait for the reader. */
  get backlog(): number {
    return this.readableLength + this.#heldBytes;
  }

  receive(piece: Buffer, last: boolean): void {
    this.#complete = last;
    if (this.#wanted && this.#heldBytes === 0) {
      this.#give(piece);
    } else {
      this.#held.push(piece);
      this.#heldBytes += piece.length;
    }
    if (last && this.#heldBytes === 0) this.push(null);
  }

  override _read(): void {
    this.#wanted = true;
    this.#stalled?.delete(this);
    if (this.#heldBytes === 0) return;
    while (this.#wanted && this.#held.length > 0) {
      const piece = this.#held.shift() as Buffer;
      this.#heldBytes -= piece.length;
      this.#give(piece);
    }
    if (this.#complete && this.#heldBytes === 0) this.push(null);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stalled?.delete(this);
    this.#stream.read(this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    if (!this.#complete) this.#onLeft();
    callback(error);
  }

  /** Hands it to the reader, and tells the other end that as much more may come. */
  #give(piece: Buffer): void {
    this.#stream.read(piece.length);
    if (piece.length === 0 || this.push(piece)) return;
    this.#wanted = false;
    this.#stalled?.add(this);
  }
}
