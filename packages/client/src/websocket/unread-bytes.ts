import type { Readable } from 'node:stream';

const MAX_BYTES = 256 * 1024;

/** What has come for a stream and its reader has not taken yet: bounded, as whoever brings it is asked to wait. */
export class UnreadBytes {
  readonly #stream: Readable;
  #wake: (() => void) | undefined;

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** A promise where the reader is more than 256 KiB behind: to be waited for until that is halved, or the stream destroyed. */
  push(bytes: Buffer): Promise<void> | undefined {
    if (this.#stream.destroyed || bytes.length === 0) return undefined;
    this.#stream.push(bytes);
    return this.#stream.readableLength > MAX_BYTES ? this.#drained() : undefined;
  }

  /** To be called by the stream in its `_read` and its `_destroy`. */
  wake(): void {
    this.#wake?.();
  }

  async #drained(): Promise<void> {
    while (!this.#stream.destroyed && this.#stream.readableLength > MAX_BYTES / 2) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
