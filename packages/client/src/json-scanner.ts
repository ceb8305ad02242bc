import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './json-bytes.ts';

/**
 * Walks over JSON text by its strings and brackets. Each step begins at the cursor and leaves it behind what it passed. At
 * the first thing that cannot be JSON it gives up.
 */
export class JsonScanner {
  readonly #bytes: Uint8Array;
  #at = 0;
  #broken = false;
  /** Of the member found last: where its key begins, and the comma before it (-1 for the first member). */
  #keyStart = 0;
  #commaBefore = -1;
  /** Start and end of what goes, in turn. */
  readonly #cuts: number[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Where the cursor is. */
  get at(): number {
    return this.#at;
  }

  moveTo(at: number): void {
    this.#at = at;
  }

  /** To the value of member `name` of the object here; without one, behind whatever is here. */
  find(name: string): boolean {
    if (this.peek() !== OPEN_BRACE) return this.#skipValue();
    this.#at++;
    for (let comma = -1; this.peek() === QUOTE; comma = this.#at++) {
      const start = this.#at;
      this.#skipString();
      const found = this.#at - start === name.length + 2 && this.#spells(name, start + 1);
      if (this.peek() !== COLON) return this.#giveUp();
      this.#at++;
      if (found) {
        this.#keyStart = start;
        this.#commaBefore = comma;
        return true;
      }
      this.#skipValue();
      if (this.peek() !== COMMA) break;
    }
    if (this.peek() !== CLOSE_BRACE) return this.#giveUp();
    this.#at++;
    return false;
  }

  /** Notes the cut, and says how deep in the object the cursor is left: 0 is behind it. */
  cutFromObject(): 0 | 1 | 2 {
    if (!this.find('metadata')) return 0;
    if (!this.find('managedFields')) return 1;
    const start = this.#keyStart;
    const comma = this.#commaBefore;
    this.#skipValue();
    const end = this.#at;
    // Its comma goes too: the one behind it, or, of the last member, the one before it.
    if (this.peek() === COMMA) this.#cuts.push(start, this.#at + 1);
    else this.#cuts.push(comma < 0 ? start : comma, end);
    return 2;
  }

  /** The same for each element of the array here. */
  cutFromElements(): void {
    if (this.peek() !== OPEN_BRACKET) return;
    do {
      this.#at++;
      this.#skipOut(this.cutFromObject());
    } while (!this.#broken && this.peek() === COMMA);
  }

  result(): Uint8Array {
    const cuts = this.#cuts;
    if (this.#broken || cuts.length === 0) return this.#bytes;
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let i = 0; i < cuts.length; i += 2) {
      parts.push(this.#bytes.subarray(from, cuts[i]));
      from = cuts[i + 1] as number;
    }
    parts.push(this.#bytes.subarray(from));
    return Buffer.concat(parts);
  }

  #giveUp(): false {
    this.#broken = true;
    this.#at = this.#bytes.length;
    return false;
  }

  /** The next byte that is no white space. */
  peek(): number | undefined {
    while ((this.#bytes[this.#at] as number) <= SPACE) this.#at++;
    return this.#bytes[this.#at];
  }

  #spells(name: string, at: number): boolean {
    for (let i = 0; i < name.length; i++) if (this.#bytes[at + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  #skipString(): void {
    const bytes = this.#bytes;
    for (let at = this.#at + 1; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        this.#at = at + 1;
        return;
      }
    }
    this.#giveUp();
  }

  #skipValue(): false {
    const first = this.peek();
    if (first === QUOTE) this.#skipString();
    else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      this.#at++;
      this.#skipOut(1);
    } else {
      for (let byte = first; ; byte = this.#bytes[++this.#at]) {
        if (byte === undefined || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE)
          break;
      }
    }
    return false;
  }

  /** Out of so many brackets. */
  #skipOut(depth: number): void {
    const bytes = this.#bytes;
    for (let open = depth; open > 0; ) {
      const byte = bytes[this.#at];
      if (byte === undefined) {
        this.#giveUp();
        return;
      }
      if (byte === QUOTE) {
        this.#skipString();
        continue;
      }
      this.#at++;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
    }
  }
}
