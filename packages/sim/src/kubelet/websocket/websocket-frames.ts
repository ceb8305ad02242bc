export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Why a connection was closed (RFC 6455, 7.4.1). */
export const CLOSE = { normal: 1000, protocolError: 1002, tooBig: 1009 } as const;

/** A peer that breaks RFC 6455 or a limit: its connection ends with the code. */
export class WebSocketProtocolError extends Error {
  override readonly name = 'WebSocketProtocolError';
  readonly code: number;

  constructor(message: string, code: number = CLOSE.protocolError) {
    super(message);
    this.code = code;
  }
}

/** A piece of a message as it arrived; a message may be of any length. */
export interface MessagePiece {
  kind: 'message';
  data: Buffer;
  text: boolean;
  start: boolean;
  end: boolean;
}

export interface ControlMessage {
  kind: 'control';
  opcode: number;
  data: Buffer;
}

interface FrameInProgress {
  left: number;
  fin: boolean;
  start: boolean;
  mask: Buffer;
  offset: number;
}

const MAX_CONTROL_BYTES = 125;

/** Cuts the bytes of a client into messages and control frames, unmasked. */
export class WebSocketFrameReader {
  #held: Buffer = Buffer.alloc(0);
  #frame: FrameInProgress | undefined;
  /** The kind of the message that has begun and not ended. */
  #message: 'text' | 'binary' | undefined;

  /** Throws {@link WebSocketProtocolError}. */
  *read(chunk: Buffer): Generator<MessagePiece | ControlMessage> {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.#frame !== undefined) {
        const taken = bytes.subarray(0, this.#frame.left);
        bytes = bytes.subarray(taken.length);
        yield this.#takeData(this.#frame, taken);
        continue;
      }
      const header = readHeader(bytes);
      if (header === undefined) break;
      const { opcode, fin, length, bytes: headerBytes, mask } = header;
      if (opcode >= OPCODE.close) {
        if (bytes.length < headerBytes + length) break;
        const data = unmask(bytes.subarray(headerBytes, headerBytes + length), mask, 0);
        bytes = bytes.subarray(headerBytes + length);
        yield { kind: 'control', opcode, data };
        continue;
      }
      bytes = bytes.subarray(headerBytes);
      const start = this.#begin(opcode);
      const frame = { left: length, fin, start, mask, offset: 0 };
      if (length === 0) yield this.#takeData(frame, Buffer.alloc(0));
      else this.#frame = frame;
    }
    if (bytes.length > 0) this.#held = Buffer.from(bytes);
  }

  #begin(opcode: number): boolean {
    if (opcode === OPCODE.continuation) {
      if (this.#message === undefined) throw new WebSocketProtocolError('a continuation of nothing');
      return false;
    }
    if (this.#message !== undefined) throw new WebSocketProtocolError('a message within a message');
    this.#message = opcode === OPCODE.text ? 'text' : 'binary';
    return true;
  }

  #takeData(frame: FrameInProgress, taken: Buffer): MessagePiece {
    const data = unmask(taken, frame.mask, frame.offset);
    const text = this.#message === 'text';
    const left = frame.left - taken.length;
    const end = left === 0 && frame.fin;
    if (end) this.#message = undefined;
    this.#frame = left === 0 ? undefined : { ...frame, left, start: false, offset: frame.offset + taken.length };
    return { kind: 'message', data, text, start: frame.start, end };
  }
}

interface FrameHeader {
  opcode: number;
  fin: boolean;
  length: number;
  mask: Buffer;
  /** Of the header itself. */
  bytes: number;
}

function readHeader(bytes: Buffer): FrameHeader | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const opcode = first & 0x0f;
  const fin = (first & 0x80) !== 0;
  if ((first & 0x70) !== 0) throw new WebSocketProtocolError('an extension that was not agreed on');
  if ((second & 0x80) === 0) throw new WebSocketProtocolError('a frame without a mask');
  if (opcode > OPCODE.pong || (opcode > OPCODE.binary && opcode < OPCODE.close)) {
    throw new WebSocketProtocolError(`unknown opcode ${opcode}`);
  }
  const short = second & 0x7f;
  if (opcode >= OPCODE.close && (!fin || short > MAX_CONTROL_BYTES)) {
    throw new WebSocketProtocolError('a control frame that is too long or in parts');
  }
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskAt = 2 + lengthBytes;
  if (bytes.length < maskAt + 4) return undefined;
  return {
    opcode,
    fin,
    length: lengthBytes === 0 ? short : readLength(bytes, lengthBytes),
    mask: Buffer.from(bytes.subarray(maskAt, maskAt + 4)),
    bytes: maskAt + 4,
  };
}

function readLength(bytes: Buffer, lengthBytes: number): number {
  if (lengthBytes === 2) return bytes.readUInt16BE(2);
  const length = bytes.readBigUInt64BE(2);
  if (length > BigInt(Number.MAX_SAFE_INTEGER)) throw new WebSocketProtocolError('a frame too long', CLOSE.tooBig);
  return Number(length);
}

function unmask(bytes: Buffer, mask: Buffer, offset: number): Buffer {
  const clear = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at++) clear[at] = bytes[at]! ^ mask[(offset + at) & 3]!;
  return clear;
}

/** The header of a whole unmasked message, as servers send them. */
export function messageHeader(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  const long = length > 0xffff;
  const header = Buffer.alloc(long ? 10 : 4);
  header[0] = first;
  header[1] = long ? 127 : 126;
  if (long) header.writeBigUInt64BE(BigInt(length), 2);
  else header.writeUInt16BE(length, 2);
  return header;
}
