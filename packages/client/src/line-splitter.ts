import { ClientError } from './client-error.ts';

const LINE_END = 10;
const NOTHING = Buffer.alloc(0);
/** In bytes: more than any API server takes as an object, many times over. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** The lines of a body, without their ends. An empty line is left out; what stands behind the last line end is the last line. */
export class LineSplitter {
  readonly #server: string;
  #chunk: Buffer = NOTHING;
  #at = 0;
  /** Of the line that is not complete yet, and how long they are together. */
  #pieces: Buffer[] | undefined;
  #length = 0;

  /** `server` is for messages. */
  constructor(server: string) {
    this.#server = server;
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

  #complete(piece: Buffer): Buffer {
    if (!this.#pieces) return piece;
    const line = Buffer.concat([...this.#pieces, piece]);
    this.#pieces = undefined;
    this.#length = 0;
    return line;
  }

  #keepRest(): undefined {
    const rest = this.#chunk.subarray(this.#at);
    this.add(NOTHING);
    if (rest.length === 0) return;
    this.#length += rest.length;
    if (this.#length > LONGEST_LINE) {
      const message = `${this.#server} sent a line of more than ${LONGEST_LINE} bytes, without an end`;
      throw new ClientError(message, { code: 'ERR_LINE_TOO_LONG', server: this.#server });
    }
    (this.#pieces ??= []).push(rest);
  }
}
