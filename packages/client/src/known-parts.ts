/** Powers of two. */
const FEWEST_SLOTS = 512;
const MOST_SLOTS = 16_384;
/** Of all texts together. */
const MOST_TEXT = 4 * 1024 * 1024;
/** A longer text is not kept to compare with. */
const LONGEST = 256 * 1024;

/**
 * Values by the text that they were parsed from, one character a byte: the newest of what was kept or found. A bounded number
 * (16,384) of them, and of bytes of their texts (4 MB).
 */
export class KnownParts {
  #slots: (Known | undefined)[] = Array.from({ length: FEWEST_SLOTS }, () => undefined);
  #kept = 0;
  #time = 0;
  #text = 0;
  /** The slot that is looked at next when there is too much text. */
  #hand = 0;

  /** Of what stands at `start` of `text`, so long; undefined where nothing is known of just this. */
  find(hash: number, text: string, start: number, length: number): object | undefined {
    for (let way = 0; way < 2; way++) {
      const known = this.#slots[this.#at(hash, way)];
      // A slice is compared many bytes at once; `startsWith` goes one by one.
      if (known?.hash !== hash || known.text.length !== length || known.text !== text.slice(start, start + length))
        continue;
      known.used = ++this.#time;
      return known.value;
    }
    return undefined;
  }

  /** `text` must be one of its own: a slice would keep all that it was cut from. */
  keep(hash: number, text: string, value: object): void {
    if (text.length > LONGEST) return;
    if (++this.#kept > this.#slots.length / 2 && this.#slots.length < MOST_SLOTS) this.#grow();
    this.#put({ hash, text, value, used: ++this.#time, seen: 0 });
    while (this.#text > MOST_TEXT) this.#forget();
  }

  #at(hash: number, way: number): number {
    return (way === 0 ? hash : hash >>> 16) & (this.#slots.length - 1);
  }

  /** In place of the one that was found longer ago, where both are taken. */
  #put(known: Known): void {
    const [one, other] = [this.#at(known.hash, 0), this.#at(known.hash, 1)];
    const slot = (this.#slots[one]?.used ?? 0) <= (this.#slots[other]?.used ?? 0) ? one : other;
    this.#text += known.text.length - (this.#slots[slot]?.text.length ?? 0);
    this.#slots[slot] = known;
  }

  /** The next one, if it was not found since it was looked at last. */
  #forget(): void {
    const slot = this.#hand++ & (this.#slots.length - 1);
    const known = this.#slots[slot];
    if (!known) return;
    const spared = known.used > known.seen;
    known.seen = this.#time;
    if (spared) return;
    this.#text -= known.text.length;
    this.#slots[slot] = undefined;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = Array.from({ length: before.length * 2 }, () => undefined);
    this.#text = 0;
    for (const known of before) if (known) this.#put(known);
  }
}

interface Known {
  hash: number;
  text: string;
  value: object;
  /** When it was found last, counted in what was found or kept. */
  used: number;
  /** When the hand came by last. */
  seen: number;
}
