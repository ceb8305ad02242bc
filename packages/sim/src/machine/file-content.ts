const BLOCK = 64 * 1024;

/** The bytes of a file: in blocks, so that a large one grows without being copied, and a small one takes what it needs. */
export class FileContent {
  readonly #blocks: Uint8Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Copies `data` to the end. */
  append(data: Uint8Array): void {
    let taken = 0;
    while (taken < data.length) {
      const used = this.#size % BLOCK;
      const block = this.#blockWith(used, data.length - taken);
      const part = data.subarray(taken, taken + block.length - used);
      block.set(part, used);
      taken += part.length;
      this.#size += part.length;
    }
  }

  #blockWith(used: number, wanted: number): Uint8Array {
    const last = used === 0 ? undefined : this.#blocks.at(-1);
    if (last && last.length > used) return last;
    const block = new Uint8Array(Math.min(BLOCK, Math.max(used * 2, used + wanted)));
    if (last) {
      block.set(last);
      this.#blocks.pop();
    }
    this.#blocks.push(block);
    return block;
  }

  /** At most `length` bytes from `offset` on, possibly fewer; empty at the end. Not a copy, and never changed. */
  read(offset: number, length: number): Uint8Array {
    const from = offset % BLOCK;
    const here = Math.min(length, BLOCK - from, Math.max(0, this.#size - offset));
    return (this.#blocks[Math.floor(offset / BLOCK)] ?? new Uint8Array()).subarray(from, from + here);
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#size = 0;
  }
}
