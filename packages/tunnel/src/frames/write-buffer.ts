/** From here on it is worth a buffer that is kept. */
const SPARE_FROM = 32 << 10;

/**
 * Makes one piece of all that is to be written at a time. Where that is much, a buffer is used again: new ones would cost more than the
 * copying. What it gave is to be written before it is asked again.
 */
export class WriteBuffer {
  readonly #size: number;
  #spare: Buffer | undefined;

  /** @param size up to which a buffer is kept. */
  constructor(size: number) {
    this.#size = size;
  }

  join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
    if (pieces.length === 1) return pieces[0] as Uint8Array;
    if (bytes < SPARE_FROM || bytes > this.#size) return Buffer.concat(pieces, bytes);
    this.#spare ??= Buffer.allocUnsafeSlow(this.#size);
    let at = 0;
    for (const piece of pieces) {
      this.#spare.set(piece, at);
      at += piece.length;
    }
    return this.#spare.subarray(0, at);
  }

  /** There are many connections, and most are at rest: they keep none. */
  release(): void {
    this.#spare = undefined;
  }
}
