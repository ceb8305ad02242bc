import type { Duplex } from 'node:stream';
import type { BufferCollection } from '@asterism/runtime';
import { FrameType, formatFrameHeader, LAST, writeFrameHeader } from './frame.ts';
import { WriteBuffer } from './write-buffer.ts';

/** What may wait to be written. Enough for a line to be full; more would only keep a call waiting behind the bodies of others. */
const MAX_QUEUED = 256 << 10;
/** What is sent was in one buffer as it was read from a socket, and in another as Node's HTTP gave it on. */
const BUFFERS_READ = 2;

export interface FrameWriterOptions {
  maxFrameSize: number;
  buffers: BufferCollection;
  /** There is room in the queue again. */
  onRoom: () => void;
  /** A write has ended. */
  onWritten: () => void;
}

/** The frames that wait for a socket. What is queued in one turn of the event loop leaves in one piece. */
export class FrameWriter {
  /** Bytes that wait to be written. */
  queued = 0;
  /** Whether anything is queued or being written. */
  isBusy = false;
  readonly #socket: Duplex;
  readonly #options: FrameWriterOptions;
  readonly #buffer: WriteBuffer;
  #queue: Uint8Array[] = [];
  /** The header of the frame that was queued last, while it can still grow. */
  #lastData: { id: number; header: Buffer; length: number } | undefined;
  #closed = false;

  constructor(socket: Duplex, options: FrameWriterOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#buffer = new WriteBuffer(MAX_QUEUED + options.maxFrameSize * 2);
  }

  get isFull(): boolean {
    return this.queued >= MAX_QUEUED;
  }

  push(frame: Buffer): void {
    this.#lastData = undefined;
    this.#enqueue(frame);
  }

  /** A piece of a body. Pieces that follow each other share a frame. */
  pushData(id: number, piece: Uint8Array, last: boolean): void {
    const before = this.#lastData;
    const length = piece.length + (before?.id === id ? before.length : 0);
    const type = last ? FrameType.data | LAST : FrameType.data;
    if (before?.id === id && length <= this.#options.maxFrameSize) {
      writeFrameHeader(before.header, type, id, length);
      before.length = length;
      if (piece.length > 0) this.#enqueue(piece);
    } else {
      const header = formatFrameHeader(type, id, piece.length);
      this.#enqueue(header);
      if (piece.length > 0) this.#enqueue(piece);
      this.#lastData = { id, header, length: piece.length };
    }
    if (last) this.#lastData = undefined;
  }

  /** Gives memory back while no call runs. */
  release(): void {
    this.#buffer.release();
  }

  /** Writes nothing any more. */
  close(): void {
    this.#closed = true;
    this.#queue = [];
  }

  #enqueue(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#queue.push(bytes);
    this.queued += bytes.length;
    if (this.isBusy) return;
    this.isBusy = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#lastData = undefined;
    if (this.queued === 0 || this.#closed) {
      this.isBusy = false;
      return this.#options.onWritten();
    }
    const bytes = this.#buffer.join(this.#queue, this.queued);
    this.#queue = [];
    this.queued = 0;
    this.#options.buffers.count(bytes.length * BUFFERS_READ);
    this.#socket.write(bytes, this.#onWritten);
    this.#options.onRoom();
  };

  /** What came meanwhile goes next: nothing is copied that cannot be written yet. */
  readonly #onWritten = (): void => {
    if (this.queued > 0) this.#flush();
    else this.isBusy = false;
    this.#options.onWritten();
  };
}
