import type { ReadBudget } from './bounded/read-budget.ts';
import { refuseReading } from './bounded/read-limit-error.ts';
import { READ_LIMITS, type ReadLimits } from './bounded/read-limits.ts';

const LINE_END = 10;
const NOTHING = Buffer.alloc(0);
/** A line that is not complete yet counts against the budget from this length on. Most never get there. */
const COUNTED_FROM = 64 * 1024;

export interface LineSplitterOptions {
  /** Default: those of a line of a watch. */
  limits?: ReadLimits | undefined;
  budget?: ReadBudget | undefined;
}

/**
 * The lines of a body, without their ends. An empty line is left out; what stands behind the last line end is the last line. It is
 * disposed of when no more is read.
 */
export class LineSplitter implements Disposable {
  readonly #server: string;
  readonly #options: LineSplitterOptions;
  #chunk: Buffer = NOTHING;
  #at = 0;
  /** Of the line that is not complete yet, and how long they are together. */
  #pieces: Buffer[] | undefined;
  #length = 0;
  #reserved = 0;

  /** `server` is for messages. */
  constructor(server: string, options: LineSplitterOptions = {}) {
    this.#server = server;
    this.#options = options;
  }

  /** What comes next; the one before must have been read. */
  add(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** Of what was added; undefined when the rest of it is no whole line. Throws where a line has no end. */
  next(): Buffer | undefined {
    for (;;) {
      const end = this.#chunk.indexOf(LINE_END, this.#at);
      if (end < 0) return this.#keepRest();
      const piece = this.#chunk.subarray(this.#at, end);
      this.#at = end + 1;
      const line = this.#complete(piece);
      if (line.length > 0) return line;
    }
  }

  /** What stands behind the last line end, when no more comes. */
  last(): Buffer | undefined {
    const line = this.#complete(NOTHING);
    return line.length > 0 ? line : undefined;
  }

  [Symbol.dispose](): void {
    this.#free();
    this.#pieces = undefined;
    this.#length = 0;
  }

  #complete(piece: Buffer): Buffer {
    if (!this.#pieces) return piece;
    this.#require(this.#length + piece.length);
    const line = Buffer.concat([...this.#pieces, piece]);
    this[Symbol.dispose]();
    return line;
  }

  #keepRest(): undefined {
    const rest = this.#chunk.subarray(this.#at);
    this.add(NOTHING);
    if (rest.length === 0) return;
    this.#length += rest.length;
    this.#require(this.#length);
    this.#reserve();
    (this.#pieces ??= []).push(rest);
  }

  #require(length: number): void {
    const { maxBytes, use } = this.#options.limits ?? READ_LIMITS.line;
    if (length <= maxBytes) return;
    this[Symbol.dispose]();
    throw refuseReading({ limit: 'bytes', source: this.#server, use, excess: `a line of more than ${maxBytes} bytes` });
  }

  #reserve(): void {
    const { budget, limits = READ_LIMITS.line } = this.#options;
    if (!budget || this.#length < COUNTED_FROM) return;
    const more = this.#length - this.#reserved;
    if (budget.reserve(more)) {
      this.#reserved += more;
      return;
    }
    this[Symbol.dispose]();
    const excess = 'long lines, and more answers at the same time than there is memory for';
    throw refuseReading({ limit: 'budget', source: this.#server, use: limits.use, excess });
  }

  #free(): void {
    if (this.#reserved > 0) this.#options.budget?.free(this.#reserved);
    this.#reserved = 0;
  }
}
