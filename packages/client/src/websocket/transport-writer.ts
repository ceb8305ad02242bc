import type { Duplex } from 'node:stream';

/** Held unsent beyond what streams have: answers to a peer that asks and does not read. */
const MAX_UNSENT_BYTES = 256 * 1024;

/** Writes of many streams on one connection, in turn: none is given to the connection while that has enough. */
export class TransportWriter {
  readonly #transport: Duplex;
  readonly #waiting: (() => void)[] = [];

  constructor(transport: Duplex) {
    this.#transport = transport;
    const go = (): void => {
      while (this.#waiting.length > 0 && !this.#isBusy) this.#waiting.shift()?.();
    };
    transport.on('drain', go);
    transport.once('close', go);
  }

  get #isBusy(): boolean {
    return this.#transport.writableNeedDrain && !this.#transport.destroyed;
  }

  /** A part of a stream; `taken` is called when its next part may be written. */
  writeInTurn(frames: readonly Uint8Array[], taken: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push(() => this.writeInTurn(frames, taken));
      return;
    }
    this.writeNow(frames);
    if (this.#isBusy) this.#waiting.push(taken);
    else taken();
  }

  /** Frames of the protocol itself, small and few; what must not be torn apart goes in one call. */
  writeNow(frames: readonly Uint8Array[]): void {
    const transport = this.#transport;
    if (transport.destroyed || transport.writableEnded) return;
    if (frames.length > 1) transport.cork();
    for (const frame of frames) transport.write(frame);
    if (frames.length > 1) transport.uncork();
  }

  /** Before more is read of a peer that makes us write without reading it; undefined where there is room. */
  room(): Promise<void> | undefined {
    if (!this.#isBusy || this.#transport.writableLength < MAX_UNSENT_BYTES) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
