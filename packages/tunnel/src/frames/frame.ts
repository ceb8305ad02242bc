import { TunnelError } from '../tunnel-error.ts';

/**
 * One frame: 24 bits of length and 8 of type, 31 bits of the call's number (0: the connection), then the payload. All numbers are
 * big-endian. A type whose highest bit is set is the last of its direction of the call.
 */
export const FrameType = {
  /** What each end begins with: {@link Hello}. */
  hello: 1,
  /** The head of a request, or of its answer, as HTTP/1.1 writes it. */
  head: 2,
  /** A piece of a body. */
  data: 3,
  /** 32 bits: so many bytes more may be sent. */
  credit: 4,
  /** 32 bits: the code of why the call is broken off. */
  reset: 5,
  /** 32 bits that come back. */
  ping: 6,
  pong: 7,
  /** 32 bits: the last call that its sender still answers. It takes, or opens, no more. */
  leave: 8,
  /** Empty, by the hub: a byte pipe is wanted. */
  want: 9,
} as const;

/** Why a call is broken off: the code of a RESET. */
export const Reset = {
  /** Nothing is wrong: the rest is not wanted. */
  none: 0,
  /** This end failed in the middle of it. */
  failed: 2,
  /** Nothing was done about the call: it may be sent again. */
  refused: 7,
  /** The caller left. */
  cancelled: 8,
  /** It takes more than the other end allows. */
  tooLarge: 11,
} as const;

/** Bit of a type: nothing follows in this direction of the call. */
export const LAST = 0x80;

export const FRAME_HEADER_BYTES = 8;

const MAX_LENGTH = 0xff_ff_ff;

/** What an end lets the other do. */
export interface Hello {
  /** Bytes of one call's body that may be sent ahead of its reader. */
  streamWindow: number;
  /** The same of all calls. */
  connectionWindow: number;
  /** Calls at one time. */
  maxStreams: number;
}

/** So that an end that speaks something else is told by its first bytes. */
const MAGIC = 0x41_53_54_31; // AST1

export function formatHello({ streamWindow, connectionWindow, maxStreams }: Hello): Buffer {
  return formatFrame(FrameType.hello, 0, MAGIC, streamWindow, connectionWindow, maxStreams);
}

/** @throws TunnelError `PROTOCOL`. What a later version says behind these is skipped. */
export function parseHello(payload: Buffer): Hello {
  if (payload.length < 16 || payload.readUInt32BE(0) !== MAGIC) {
    throw new TunnelError('PROTOCOL', 'the other end does not begin with HELLO');
  }
  return {
    streamWindow: payload.readUInt32BE(4),
    connectionWindow: payload.readUInt32BE(8),
    maxStreams: payload.readUInt32BE(12),
  };
}

/** The one number of a frame. @throws TunnelError `PROTOCOL`. */
export function numberOf(payload: Buffer): number {
  if (payload.length < 4) throw new TunnelError('PROTOCOL', 'a frame is too short');
  return payload.readUInt32BE(0);
}

/** A frame of numbers. */
export function formatFrame(type: number, id: number, ...numbers: readonly number[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + numbers.length * 4);
  writeFrameHeader(frame, type, id, numbers.length * 4);
  numbers.forEach((number, i) => frame.writeUInt32BE(number, FRAME_HEADER_BYTES + i * 4));
  return frame;
}

/** A frame of text. */
export function formatTextFrame(type: number, id: number, text: string): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + text.length);
  writeFrameHeader(frame, type, id, text.length);
  frame.write(text, FRAME_HEADER_BYTES, 'latin1');
  return frame;
}

/** The header of a frame whose payload follows. */
export function formatFrameHeader(type: number, id: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  writeFrameHeader(header, type, id, length);
  return header;
}

export function writeFrameHeader(into: Buffer, type: number, id: number, length: number): void {
  into.writeUInt32BE(length * 256 + type, 0);
  into.writeUInt32BE(id, 4);
}

export interface FrameTaker {
  /** A piece of a body, in pieces as they come; `last` of the frame, whose type says whether it is the last of all. */
  onData(id: number, piece: Buffer, last: boolean): void;
  /** Any other frame, whole; of `data` one without bytes. */
  onFrame(type: number, id: number, payload: Buffer): void;
}

const NOTHING = Buffer.alloc(0);

/** Takes frames out of the bytes of a connection. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerFilled = 0;
  #type = 0;
  #id = 0;
  #left = 0;
  #pieces: Buffer[] = [];

  /** @param maxBytes of a frame that is no piece of a body. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws TunnelError `PROTOCOL` for a frame that is too long, and what `taker` throws: nothing more can be read then. */
  read(chunk: Buffer, taker: FrameTaker): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        at = this.#readHeader(chunk, at);
        if (this.#headerFilled > 0) return;
        if (this.#left === 0) taker.onFrame(this.#type, this.#id, NOTHING);
        continue;
      }
      const piece = chunk.subarray(at, at + this.#left);
      at += piece.length;
      this.#left -= piece.length;
      if ((this.#type & ~LAST) === FrameType.data) {
        taker.onData(this.#id, piece, this.#left === 0 && this.#type >= LAST);
      } else if (this.#left > 0) {
        this.#pieces.push(piece);
      } else {
        const payload = this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
        this.#pieces = [];
        taker.onFrame(this.#type, this.#id, payload);
      }
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    let header = chunk;
    let from = at;
    if (this.#headerFilled > 0 || chunk.length - at < FRAME_HEADER_BYTES) {
      const copied = chunk.copy(this.#header, this.#headerFilled, at, at + FRAME_HEADER_BYTES - this.#headerFilled);
      this.#headerFilled += copied;
      if (this.#headerFilled < FRAME_HEADER_BYTES) return at + copied;
      this.#headerFilled = 0;
      header = this.#header;
      from = 0;
      at += copied;
    } else {
      at += FRAME_HEADER_BYTES;
    }
    const first = header.readUInt32BE(from);
    this.#type = first & 0xff;
    this.#id = header.readUInt32BE(from + 4);
    this.#left = first >>> 8;
    const max = (this.#type & ~LAST) === FrameType.data ? MAX_LENGTH : this.#maxBytes;
    if (this.#left > max) throw new TunnelError('PROTOCOL', `a frame of ${this.#left} bytes, ${max} are the limit`);
    return at;
  }
}
