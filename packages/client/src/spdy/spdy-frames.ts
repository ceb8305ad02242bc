/** Control frames of SPDY/3.1 (draft 3.1, section 2.6). */
export const CONTROL = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const FLAG_FIN = 1;

/** Why a stream was reset. */
export const RESET = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5, frameTooLarge: 11 } as const;

export const INITIAL_WINDOW_SIZE = 7;

/** A peer that does not speak SPDY/3.1, or not within our limits: its connection ends. */
export class SpdyProtocolError extends Error {
  override readonly name = 'SpdyProtocolError';
}

/** A piece of a data frame as it arrived; `fin` with the last of a frame that ends its stream. */
export interface DataPiece {
  kind: 'data';
  streamId: number;
  data: Buffer;
  fin: boolean;
}

export interface ControlFrame {
  kind: 'control';
  type: number;
  flags: number;
  payload: Buffer;
}

const HEADER_BYTES = 8;
const MAX_CONTROL_BYTES = 64 * 1024;

/** Cuts a byte stream into control frames, which are held until they are whole, and data, which is not held at all. */
export class SpdyFrameReader {
  #held: Buffer = Buffer.alloc(0);
  #data: { streamId: number; left: number; fin: boolean } | undefined;

  /** Throws {@link SpdyProtocolError}. */
  *read(chunk: Buffer): Generator<DataPiece | ControlFrame> {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#data !== undefined) {
        const taken = bytes.subarray(0, this.#data.left);
        bytes = bytes.subarray(taken.length);
        yield this.#takeData(this.#data, taken);
        continue;
      }
      if (bytes.length < HEADER_BYTES) break;
      const first = bytes.readUInt32BE(0);
      const flags = bytes.readUInt8(4);
      const length = bytes.readUIntBE(5, 3);
      if (first < 0x80000000) {
        const data = { streamId: first, left: length, fin: (flags & FLAG_FIN) !== 0 };
        bytes = bytes.subarray(HEADER_BYTES);
        if (length === 0) yield this.#takeData(data, Buffer.alloc(0));
        else this.#data = data;
        continue;
      }
      requireControl(first, length);
      if (bytes.length < HEADER_BYTES + length) break;
      const payload = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
      bytes = bytes.subarray(HEADER_BYTES + length);
      yield { kind: 'control', type: first & 0xffff, flags, payload };
    }
    // Copied: the chunk may be a slice of a large buffer that this would keep.
    if (bytes.length > 0) this.#held = Buffer.from(bytes);
  }

  #takeData(data: { streamId: number; left: number; fin: boolean }, taken: Buffer): DataPiece {
    const left = data.left - taken.length;
    this.#data = left === 0 ? undefined : { ...data, left };
    return { kind: 'data', streamId: data.streamId, data: taken, fin: data.fin && left === 0 };
  }
}

function requireControl(first: number, length: number): void {
  const version = (first >>> 16) & 0x7fff;
  if (version !== 3) throw new SpdyProtocolError(`control frame of version ${version} instead of 3`);
  if (length > MAX_CONTROL_BYTES) throw new SpdyProtocolError(`control frame of ${length} bytes`);
}

/** The header of a data frame; its bytes follow. */
export function dataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt8(fin ? FLAG_FIN : 0, 4);
  header.writeUIntBE(length, 5, 3);
  return header;
}

export function controlFrame(type: number, payload: Uint8Array, flags = 0): Buffer {
  const frame = Buffer.alloc(HEADER_BYTES + payload.length);
  frame.writeUInt16BE(0x8003, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt8(flags, 4);
  frame.writeUIntBE(payload.length, 5, 3);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

/** A control frame of 32-bit numbers: RST_STREAM, PING, GOAWAY, WINDOW_UPDATE. */
export function numbersFrame(type: number, ...numbers: readonly number[]): Buffer {
  return controlFrame(type, numbersOf(...numbers));
}

export function numbersOf(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, index * 4);
  return bytes;
}
