/** What every HTTP/2 client sends first (RFC 9113 3.4): 24 bytes. */
const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS = 1;
const CONTINUATION = 9;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;
/** A block that is larger is not counted: its request is refused. */
const MAX_BLOCK_BYTES = 2 * 1024 * 1024;
/** Blocks whose streams were never asked about: of streams that were refused, and trailers. */
const MAX_BLOCKS = 16_384;
/** Of a block that cannot be counted: no list of headers has so many. */
const UNKNOWN = -1;

/**
 * Counts the header fields of HTTP/2 requests as their client sent them. HTTP/2 here drops a field whose name or value is
 * malformed, in silence, and hands the request over without it: without its impersonation, say. A request that has fewer fields
 * than were counted is such a request.
 *
 * A field is counted by its shape (RFC 7541 6): nothing is decoded, and no table is kept.
 */
export class HeaderFieldCounter {
  /** Bytes that are still to be skipped. */
  #skip = PREFACE_BYTES;
  /** The beginning of a frame of which the rest has not come. */
  #held: Buffer | undefined;
  #block: Buffer[] = [];
  #blockBytes = 0;
  readonly #streams: number[] = [];
  readonly #counts: number[] = [];

  /** To be called with all that the client sends, before HTTP/2 gets it. */
  push(received: Buffer): void {
    let piece = received;
    if (this.#held !== undefined) {
      piece = Buffer.concat([this.#held, received]);
      this.#held = undefined;
    }
    let at = 0;
    for (;;) {
      const skipped = Math.min(this.#skip, piece.length - at);
      this.#skip -= skipped;
      at += skipped;
      const left = piece.length - at;
      if (left === 0) return;
      const bytes = left < FRAME_HEADER_BYTES ? left + 1 : this.#frame(piece, at);
      if (bytes > left) {
        this.#held = piece.subarray(at);
        return;
      }
      at += bytes;
    }
  }

  /** The number of fields in the header block that opened a stream. To be asked for each stream in the order in which they come. */
  of(stream: number): number {
    for (;;) {
      const id = this.#streams.shift();
      const count = this.#counts.shift();
      if (id === undefined || count === undefined) return UNKNOWN;
      if (id === stream) return count;
    }
  }

  /** @returns how many bytes are done with; more than there are where more must come first. */
  #frame(piece: Buffer, at: number): number {
    const length = piece.readUIntBE(at, 3);
    const type = piece[at + 3]!;
    if (type !== HEADERS && type !== CONTINUATION) {
      this.#skip = length;
      return FRAME_HEADER_BYTES;
    }
    const end = at + FRAME_HEADER_BYTES + length;
    if (end <= piece.length) this.#headers(piece.subarray(at, end));
    return FRAME_HEADER_BYTES + length;
  }

  #headers(frame: Buffer): void {
    const flags = frame[4]!;
    const isFirst = frame[3] === HEADERS;
    let start = FRAME_HEADER_BYTES;
    let end = frame.length;
    if (isFirst) {
      this.#block = [];
      this.#blockBytes = 0;
      if (flags & PADDED) end -= frame[start++] ?? 0;
      if (flags & PRIORITY) start += 5;
    }
    this.#blockBytes += end - start;
    if (this.#blockBytes <= MAX_BLOCK_BYTES) this.#block.push(frame.subarray(start, Math.max(start, end)));
    if (!(flags & END_HEADERS)) return;
    const isWhole = this.#blockBytes <= MAX_BLOCK_BYTES;
    const [only] = this.#block;
    const count = isWhole ? countFields(this.#block.length === 1 ? only! : Buffer.concat(this.#block)) : UNKNOWN;
    this.#block = [];
    if (this.#streams.length >= MAX_BLOCKS) {
      this.#streams.shift();
      this.#counts.shift();
    }
    this.#streams.push(frame.readUInt32BE(5) & 0x7fffffff);
    this.#counts.push(count);
  }
}

/** How many fields a header block has (RFC 7541 6); -1 where it is none. */
export function countFields(block: Uint8Array): number {
  let count = 0;
  let at = 0;
  /** Reads an integer whose first byte has a prefix of so many bits, and moves behind it (RFC 7541 5.1). */
  const integer = (bits: number): number => {
    const most = (1 << bits) - 1;
    let value = block[at++]! & most;
    if (value < most) return value;
    for (let factor = 1; at < block.length; factor *= 128) {
      const byte = block[at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80 || value > MAX_BLOCK_BYTES) return value;
    }
    at = Number.POSITIVE_INFINITY;
    return 0;
  };
  const text = (): void => {
    const length = integer(7);
    at += length;
  };
  while (at < block.length) {
    const first = block[at]!;
    if (first >= 0x80) {
      integer(7);
    } else if (first >> 5 === 1) {
      integer(5);
      continue;
    } else {
      const name = integer(first >= 0x40 ? 6 : 4);
      if (name === 0 && at < block.length) text();
      if (at >= block.length) return UNKNOWN;
      text();
    }
    count++;
  }
  return at === block.length ? count : UNKNOWN;
}
