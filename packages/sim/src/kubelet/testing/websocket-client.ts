import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { WatchedConnection } from './watched-connection.ts';

/** A small WebSocket client of its own making: it can misbehave. */
export class WebSocketClient extends WatchedConnection {
  readonly messages: Buffer[] = [];
  readonly pongs: Buffer[] = [];
  closeCode: number | undefined;
  #held = Buffer.alloc(0);

  constructor(socket: Duplex) {
    super(socket);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** What came on a channel, channel byte and all empty messages left out. */
  channel(number: number): Buffer {
    return Buffer.concat(this.messages.filter(([first]) => first === number).map((message) => message.subarray(1)));
  }

  send(channel: number, data: Uint8Array | string): boolean {
    return this.frame(0x82, Buffer.concat([Buffer.from([channel]), Buffer.from(data)]));
  }

  /** `first`: the first byte, FIN and opcode. */
  frame(first: number, payload: Uint8Array, options: { masked?: boolean } = {}): boolean {
    const mask = randomBytes(4);
    const masked = options.masked ?? true;
    const bit = masked ? 0x80 : 0;
    const { length } = payload;
    const size = length < 126 ? [bit | length] : length < 0x10000 ? [bit | 126] : [bit | 127];
    const extended = Buffer.alloc(length < 126 ? 0 : length < 0x10000 ? 2 : 8);
    if (extended.length === 2) extended.writeUInt16BE(length);
    if (extended.length === 8) extended.writeBigUInt64BE(BigInt(length));
    const body = masked ? Buffer.from(payload.map((byte, at) => byte ^ mask[at & 3]!)) : Buffer.from(payload);
    const parts = [Buffer.from([first, ...size]), extended, ...(masked ? [mask] : []), body];
    return this.socket.write(Buffer.concat(parts));
  }

  #read(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= 2) {
      const short = this.#held[1]! & 0x7f;
      const start = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (this.#held.length < start) break;
      const length =
        short === 126 ? this.#held.readUInt16BE(2) : short === 127 ? Number(this.#held.readBigUInt64BE(2)) : short;
      if (this.#held.length < start + length) break;
      this.#take(this.#held[0]! & 0x0f, Buffer.from(this.#held.subarray(start, start + length)));
      this.#held = this.#held.subarray(start + length);
    }
    this.changed();
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === 1 || opcode === 2) this.messages.push(payload);
    if (opcode === 8) this.closeCode = payload.readUInt16BE(0);
    if (opcode === 10) this.pongs.push(payload);
  }
}
