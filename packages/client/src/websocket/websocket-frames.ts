import { randomBytes } from 'node:crypto';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Why a connection was closed (RFC 6455, 7.4.1). */
export const CLOSE = { normal: 1000, goingAway: 1001, protocolError: 1002, unsupported: 1003, tooBig: 1009 } as const;

/** Which end of a connection: what a client sends is masked, what a server sends is not (RFC 6455, 5.1). */
export type WebSocketRole = 'client' | 'server';

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

export interface FrameReaderOptions {
  /** The end that reads. */
  role: WebSocketRole;
  /** Of one frame. It bounds no memory, since a frame is handed on as it comes. Default: what a number can count. */
  maxFrameBytes?: number | undefined;
}

interface FrameInProgress {
  left: number;
  fin: boolean;
  start: boolean;
  mask: Buffer | undefined;
  offset: number;
}

const MAX_CONTROL_BYTES = 125;
const NOTHING = Buffer.alloc(0);

/** Cuts the bytes of a peer into messages and control frames, unmasked. Keeps no more than the head of a frame, or a control frame. */
export class WebSocketFrameReader {
  readonly #masked: boolean;
  readonly #maxFrameBytes: number;
  #held: Buffer = NOTHING;
  #frame: FrameInProgress | undefined;
  /** The kind of the message that has begun and not ended. */
  #message: 'text' | 'binary' | undefined;

  constructor({ role, maxFrameBytes = Number.MAX_SAFE_INTEGER }: FrameReaderOptions) {
    this.#masked = role === 'server';
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Throws {@link WebSocketProtocolError}. */
  *read(chunk: Buffer): Generator<MessagePiece | ControlMessage> {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
    while (bytes.length > 0) {
      if (this.#frame !== undefined) {
        const taken = bytes.subarray(0, this.#frame.left);
        bytes = bytes.subarray(taken.length);
        yield this.#takeData(this.#frame, taken);
        continue;
      }
      const header = this.#readHeader(bytes);
      if (header === undefined) break;
      const { opcode, fin, length, bytes: headerBytes, mask } = header;
      if (opcode >= OPCODE.close) {
        if (bytes.length < headerBytes + length) break;
        const payload = bytes.subarray(headerBytes, headerBytes + length);
        bytes = bytes.subarray(headerBytes + length);
        yield { kind: 'control', opcode, data: mask === undefined ? payload : maskBytes(payload, mask) };
        continue;
      }
      bytes = bytes.subarray(headerBytes);
      const start = this.#begin(opcode);
      const frame = { left: length, fin, start, mask, offset: 0 };
      if (length === 0) yield this.#takeData(frame, NOTHING);
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
    const data = frame.mask === undefined ? taken : maskBytes(taken, frame.mask, frame.offset);
    const text = this.#message === 'text';
    const left = frame.left - taken.length;
    const end = left === 0 && frame.fin;
    if (end) this.#message = undefined;
    this.#frame = left === 0 ? undefined : { ...frame, left, start: false, offset: frame.offset + taken.length };
    return { kind: 'message', data, text, start: frame.start, end };
  }

  #readHeader(bytes: Buffer): FrameHeader | undefined {
    if (bytes.length < 2) return undefined;
    const [first = 0, second = 0] = bytes;
    const opcode = first & 0x0f;
    const fin = (first & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw new WebSocketProtocolError('an extension that was not agreed on');
    if (((second & 0x80) !== 0) !== this.#masked) {
      throw new WebSocketProtocolError(this.#masked ? 'a frame without a mask' : 'a frame with a mask');
    }
    if (opcode > OPCODE.pong || (opcode > OPCODE.binary && opcode < OPCODE.close)) {
      throw new WebSocketProtocolError(`unknown opcode ${opcode}`);
    }
    const short = second & 0x7f;
    if (opcode >= OPCODE.close && (!fin || short > MAX_CONTROL_BYTES)) {
      throw new WebSocketProtocolError('a control frame that is too long or in parts');
    }
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const maskAt = 2 + lengthBytes;
    const end = maskAt + (this.#masked ? 4 : 0);
    if (bytes.length < end) return undefined;
    const length = lengthBytes === 0 ? short : readLength(bytes, lengthBytes);
    if (length > this.#maxFrameBytes) {
      throw new WebSocketProtocolError(`a frame of more than ${this.#maxFrameBytes} bytes`, CLOSE.tooBig);
    }
    const mask = this.#masked ? Buffer.from(bytes.subarray(maskAt, end)) : undefined;
    return { opcode, fin, length, mask, bytes: end };
  }
}

interface FrameHeader {
  opcode: number;
  fin: boolean;
  length: number;
  mask: Buffer | undefined;
  /** Of the header itself. */
  bytes: number;
}

/** Beyond what a number counts exactly it is only known to be too long. */
function readLength(bytes: Buffer, lengthBytes: number): number {
  return lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
}

/** A copy of `bytes` with the mask laid on or taken off, from the `offset`th byte of the frame on; four bytes in a step. */
export function maskBytes(bytes: Uint8Array, mask: Uint8Array, offset = 0): Buffer {
  const { length } = bytes;
  const copy = Buffer.allocUnsafe(length); // begins at a multiple of 8, as Node's pool cuts it
  copy.set(bytes);
  const turned = Buffer.allocUnsafe(4);
  for (let at = 0; at < 4; at += 1) turned[at] = mask[(offset + at) & 3]!;
  const key = new Int32Array(turned.buffer, turned.byteOffset, 1)[0]!;
  const words = new Int32Array(copy.buffer, copy.byteOffset, length >> 2);
  for (let at = 0; at < words.length; at += 1) words[at]! ^= key;
  for (let at = length & ~3; at < length; at += 1) copy[at]! ^= turned[at & 3]!;
  return copy;
}

export interface FrameOptions {
  /** The end that sends. */
  role: WebSocketRole;
  /** Not the last frame of its message. */
  more?: boolean | undefined;
}

/** One frame: its head, and its payload in as many buffers as were given. Those of a server are the given ones, not copies. */
export function encodeFrame(opcode: number, payload: readonly Uint8Array[], options: FrameOptions): Uint8Array[] {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  const first = (options.more ? 0 : 0x80) | opcode;
  if (options.role === 'server') return [frameHead(first, length), ...payload];
  const mask = randomBytes(4);
  let offset = 0;
  const masked = payload.map((part) => {
    const copy = maskBytes(part, mask, offset);
    offset += part.length;
    return copy;
  });
  return [frameHead(first, length, mask), ...masked];
}

function frameHead(first: number, length: number, mask?: Buffer): Buffer {
  const lengthBytes = length < 126 ? 0 : length > 0xffff ? 8 : 2;
  const head = Buffer.alloc(2 + lengthBytes + (mask?.length ?? 0));
  head[0] = first;
  head[1] = (mask ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(length, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  mask?.copy(head, 2 + lengthBytes);
  return head;
}
