import { constants, createDeflate, createInflate } from 'node:zlib';
import type { Duplex } from 'node:stream';
import { headerDictionary } from '@asterism/client';
import { WatchedConnection } from './watched-connection.ts';

/** One stream as the test's client sees it. */
export class ClientStream {
  readonly id: number;
  readonly pieces: Buffer[] = [];
  ended = false;
  reset = false;

  constructor(id: number) {
    this.id = id;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  get length(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0);
  }
}

/** A small SPDY/3.1 client of its own making: compressed headers, and no more windows than a test sends. */
export class SpdyClient extends WatchedConnection {
  readonly streams = new Map<number, ClientStream>();
  /** Frames that concern no stream, by type. */
  readonly control: { type: number; payload: Buffer }[] = [];
  readonly #deflate = createDeflate({ dictionary: headerDictionary() });
  readonly #inflate = createInflate({ dictionary: headerDictionary() });
  #held = Buffer.alloc(0);
  #nextId = 1;

  constructor(socket: Duplex) {
    super(socket);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // Its headers have to decompress, though nothing is read of them.
    this.#inflate.on('error', (error) => socket.destroy(error)).resume();
  }

  async open(headers: Record<string, string>): Promise<ClientStream> {
    const stream = new ClientStream(this.#nextId);
    this.#nextId += 2;
    this.streams.set(stream.id, stream);
    const start = Buffer.alloc(10);
    start.writeUInt32BE(stream.id);
    this.frame(1, Buffer.concat([start, await this.#compress(headers)]));
    return stream;
  }

  frame(type: number, payload: Uint8Array, flags = 0): void {
    const header = Buffer.alloc(8);
    header.writeUInt16BE(0x8003, 0);
    header.writeUInt16BE(type, 2);
    header.writeUInt8(flags, 4);
    header.writeUIntBE(payload.length, 5, 3);
    this.socket.write(Buffer.concat([header, payload]));
  }

  numbers(type: number, ...numbers: number[]): void {
    const payload = Buffer.alloc(numbers.length * 4);
    for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number, index * 4);
    this.frame(type, payload);
  }

  send(stream: ClientStream, data: Uint8Array | string, fin = false): boolean {
    const bytes = Buffer.from(data);
    const header = Buffer.alloc(8);
    header.writeUInt32BE(stream.id, 0);
    header.writeUInt8(fin ? 1 : 0, 4);
    header.writeUIntBE(bytes.length, 5, 3);
    return this.socket.write(Buffer.concat([header, bytes]));
  }

  async #compress(headers: Record<string, string>): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const number = (value: number): void => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      pieces.push(bytes);
    };
    number(Object.keys(headers).length);
    for (const text of Object.entries(headers).flat()) {
      number(text.length);
      pieces.push(Buffer.from(text));
    }
    this.#deflate.write(Buffer.concat(pieces));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    return this.#deflate.read() as Buffer;
  }

  #read(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= 8) {
      const length = this.#held.readUIntBE(5, 3);
      if (this.#held.length < 8 + length) break;
      const first = this.#held.readUInt32BE(0);
      this.#take(first, this.#held.readUInt8(4), this.#held.subarray(8, 8 + length));
      this.#held = this.#held.subarray(8 + length);
    }
    this.changed();
  }

  #take(first: number, flags: number, payload: Buffer): void {
    if (first < 0x80000000) {
      const stream = this.streams.get(first);
      stream?.pieces.push(Buffer.from(payload));
      if (stream !== undefined && (flags & 1) !== 0) stream.ended = true;
      return;
    }
    const type = first & 0xffff;
    if (type === 2) this.#inflate.write(payload.subarray(4));
    if (type === 3) {
      const stream = this.streams.get(payload.readUInt32BE(0));
      if (stream !== undefined) stream.reset = true;
    }
    this.control.push({ type, payload: Buffer.from(payload) });
  }
}
