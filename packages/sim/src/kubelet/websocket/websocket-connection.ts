import type { Duplex } from 'node:stream';
import { TransportWriter } from '../transport-writer.ts';
import {
  CLOSE,
  messageHeader,
  type MessagePiece,
  OPCODE,
  WebSocketFrameReader,
  WebSocketProtocolError,
} from './websocket-frames.ts';

/** How long the peer may take to close its side after we have. */
const LINGER_MS = 5000;
/** While we do not read, only a write tells that the peer is gone. */
const HELD_PING_MS = 5000;

/** The server's end of a WebSocket connection (RFC 6455), after its handshake. */
export class WebSocketConnection {
  readonly transport: Duplex;
  readonly #writer: TransportWriter;
  readonly #frames = new WebSocketFrameReader();
  #closing = false;

  constructor(transport: Duplex) {
    this.transport = transport;
    this.#writer = new TransportWriter(transport);
    transport.on('error', () => {}); // Whoever reads is told by its end.
  }

  /** Hands on pieces of messages until the connection ends; waits for what `take` returns before it reads on. */
  async run(take: (piece: MessagePiece) => Promise<void> | undefined): Promise<void> {
    try {
      for await (const chunk of this.transport.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        for (const frame of this.#frames.read(chunk)) {
          if (frame.kind === 'control') {
            if (!this.#takeControl(frame.opcode, frame.data)) return;
            continue;
          }
          const done = take(frame);
          if (done !== undefined) await this.#hold(done);
        }
        await this.#writer.room();
      }
    } catch (error) {
      if (error instanceof WebSocketProtocolError) this.#sendClose(error.code, error.message);
    } finally {
      this.#closing = true;
      if (this.transport.writableEnded) this.transport.destroy();
      else this.transport.end(() => this.transport.destroy());
    }
  }

  /** One binary or text message; `taken` is called when the next may be sent. */
  send(parts: readonly Uint8Array[], options: { text?: boolean; taken?: () => void } = {}): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const header = messageHeader(options.text === true ? OPCODE.text : OPCODE.binary, length);
    const taken = options.taken ?? (() => {});
    if (this.#closing) taken();
    else this.#writer.writeInTurn([header, ...parts], taken);
  }

  /** Says goodbye after what has been sent, and waits a little for the peer's. */
  close(code: number = CLOSE.normal, reason = ''): void {
    if (this.#closing) return;
    this.#sendClose(code, reason);
    this.#closing = true;
    const timer = setTimeout(() => this.transport.destroy(), LINGER_MS);
    timer.unref();
    this.transport.once('close', () => clearTimeout(timer));
  }

  async #hold(done: Promise<void>): Promise<void> {
    const ping = setInterval(() => this.#writer.writeNow([messageHeader(OPCODE.ping, 0)]), HELD_PING_MS);
    const gone = Promise.withResolvers<void>();
    this.transport.once('close', gone.resolve);
    await Promise.race([done, gone.promise]);
    this.transport.off('close', gone.resolve);
    clearInterval(ping);
  }

  /** False: the connection is over. */
  #takeControl(opcode: number, data: Buffer): boolean {
    if (opcode === OPCODE.ping && !this.#closing)
      this.#writer.writeNow([messageHeader(OPCODE.pong, data.length), data]);
    if (opcode !== OPCODE.close) return true;
    if (!this.#closing) this.#sendClose(data.length >= 2 ? data.readUInt16BE(0) : CLOSE.normal, '');
    return false;
  }

  #sendClose(code: number, reason: string): void {
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code, 0);
    payload.write(reason, 2);
    this.#writer.writeNow([messageHeader(OPCODE.close, payload.length), payload]);
  }
}
