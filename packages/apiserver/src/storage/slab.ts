/** One piece of memory for the bytes of many objects, filled from its beginning. */
export class Slab {
  readonly bytes: Buffer;
  #used = 0;
  #live = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  hasRoomFor(size: number): boolean {
    return this.#used + size <= this.bytes.length;
  }

  /** Less than three quarters of it is of objects that are still kept: it is worth moving them elsewhere. */
  get isSparse(): boolean {
    return this.#live * 4 < this.#used * 3;
  }

  /** Returns where `bytes` begin in it. */
  add(bytes: Buffer): number {
    const start = this.#used;
    bytes.copy(this.bytes, start);
    this.#used += bytes.length;
    this.#live += bytes.length;
    return start;
  }

  /** So many bytes in it are nobody's any more. */
  remove(size: number): void {
    this.#live -= size;
  }
}
