/** Powers of two. */
const FEWEST_SLOTS = 512;
const MOST_SLOTS = 16_384;
const RING = 4 * 1024 * 1024;
/** A longer text is not kept to compare with. */
const LONGEST = 256 * 1024;

/**
 * Values by the text that they were parsed from: the newest of what was kept or found. A bounded number (16,384) of them, and of
 * bytes of their texts (4 MB).
 */
export class KnownParts {
  #slots = new Slots(FEWEST_SLOTS);
  #kept = 0;
  #time = 0;
  #ring = new Uint8Array(16 * 1024);
  #written = 0;

  /** Undefined where none is known of just this text. */
  find(hash: number, bytes: Uint8Array, start: number, end: number): unknown {
    const slots = this.#slots;
    for (let way = 0; way < 2; way++) {
      const slot = slots.at(hash, way);
      if (slots.hashes[slot] !== hash || slots.lengths[slot] !== end - start || !this.#isThere(slot)) continue;
      if (!this.#is(slot, bytes, start)) continue;
      slots.used[slot] = ++this.#time;
      // What is in use is not written over.
      if (this.#written - (slots.positions[slot] as number) > RING / 2) {
        slots.positions[slot] = this.#write(bytes, start, end);
      }
      return slots.values[slot];
    }
    return undefined;
  }

  keep(hash: number, bytes: Uint8Array, start: number, end: number, value: unknown): void {
    if (end - start > LONGEST) return;
    if (++this.#kept > this.#slots.size / 2 && this.#slots.size < MOST_SLOTS) this.#grow();
    this.#slots.put({ hash, length: end - start, position: this.#write(bytes, start, end), value, used: ++this.#time });
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Slots(before.size * 2);
    for (let slot = 0; slot < before.size; slot++) {
      const part = before.get(slot);
      if (part) this.#slots.put(part);
    }
  }

  /** Whether its text has not been written over. */
  #isThere(slot: number): boolean {
    return this.#written - (this.#slots.positions[slot] as number) <= RING;
  }

  #is(slot: number, bytes: Uint8Array, start: number): boolean {
    const ring = this.#ring;
    const from = (this.#slots.positions[slot] as number) % RING;
    const length = this.#slots.lengths[slot] as number;
    for (let i = 0; i < length; i++) if (ring[from + i] !== bytes[start + i]) return false;
    return true;
  }

  /** Returns its position. */
  #write(bytes: Uint8Array, start: number, end: number): number {
    // No text lies across the end of the ring.
    const left = RING - (this.#written % RING);
    if (left < end - start) this.#written += left;
    const position = this.#written;
    const at = position % RING;
    while (at + end - start > this.#ring.length) {
      const grown = new Uint8Array(this.#ring.length * 2);
      grown.set(this.#ring);
      this.#ring = grown;
    }
    this.#ring.set(bytes.subarray(start, end), at);
    this.#written += end - start;
    return position;
  }
}

interface Slot {
  hash: number;
  length: number;
  position: number;
  value: unknown;
  used: number;
}

/** A hash may stand in two of them. */
class Slots {
  readonly size: number;
  readonly hashes: Int32Array;
  /** 0 where it is free. */
  readonly lengths: Int32Array;
  /** Where, in all that was ever written to the ring, the text begins. */
  readonly positions: Float64Array;
  /** When it was found last, counted in what was found or kept. */
  readonly used: Float64Array;
  readonly values: unknown[];

  constructor(size: number) {
    this.size = size;
    this.hashes = new Int32Array(size);
    this.lengths = new Int32Array(size);
    this.positions = new Float64Array(size);
    this.used = new Float64Array(size);
    this.values = Array.from({ length: size });
  }

  at(hash: number, way: number): number {
    return (way === 0 ? hash : hash >>> 16) & (this.size - 1);
  }

  get(slot: number): Slot | undefined {
    const length = this.lengths[slot] as number;
    if (length === 0) return undefined;
    const [hash, position] = [this.hashes[slot] as number, this.positions[slot] as number];
    return { hash, length, position, value: this.values[slot], used: this.used[slot] as number };
  }

  /** In place of the one that was found longer ago, where both are taken. */
  put({ hash, length, position, value, used }: Slot): void {
    const [one, other] = [this.at(hash, 0), this.at(hash, 1)];
    const slot = (this.used[one] as number) <= (this.used[other] as number) ? one : other;
    this.hashes[slot] = hash;
    this.lengths[slot] = length;
    this.positions[slot] = position;
    this.used[slot] = used;
    this.values[slot] = value;
  }
}
