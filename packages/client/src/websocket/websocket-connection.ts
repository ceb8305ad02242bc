import type { Duplex } from 'node:stream';
import { TransportWriter } from './transport-writer.ts';
import {
  CLOSE,
  encodeFrame,
  type MessagePiece,
  OPCODE,
  WebSocketFrameReader,
  WebSocketProtocolError,
  type WebSocketRole,
} from './websocket-frames.ts';

/** How long the peer may take to close its side after we have. */
const LINGER_MS = 5000;
/** While we do not read, only a write tells that the peer is gone. */
const HELD_PING_MS = 5000;

export interface WebSocketConnectionOptions {
  /** This end. */
  role: WebSocketRole;
  /** Of one frame of the peer; a longer one ends the connection with {@link CLOSE}.tooBig. Default: no limit. */
  maxFrameBytes?: number | undefined;
}

/** What a peer said when it closed. */
export interface PeerClose {
  code: number;
  reason: string;
}

/** One end of a WebSocket connection (RFC 6455), after its handshake. */
export class WebSocketConnection {
  readonly transport: Duplex;
  readonly #role: WebSocketRole;
  readonly #writer: TransportWriter;
  readonly #frames: WebSocketFrameReader;
  #closing = false;
  /** `take` has not done with the last piece. */
  #held = false;
  #peerClose: PeerClose | undefined;

  constructor(transport: Duplex, options: WebSocketConnectionOptions) {
    this.transport = transport;
    this.#role = options.role;
    this.#writer = new TransportWriter(transport);
    this.#frames = new WebSocketFrameReader(options);
    transport.on('error', () => {}); // Whoever reads is told by its end.
  }

  /** How the peer closed it; undefined while it has not, and for ever where the connection broke. */
  get peerClose(): PeerClose | undefined {
    return this.#peerClose;
  }

  /**
   * Hands on pieces of messages until the connection ends; waits for what `take` returns before it reads on. A peer that breaks the
   * protocol, or what `take` throws as {@link WebSocketProtocolError}, ends it with the error's code.
   */
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
    const taken = options.taken ?? (() => {});
    if (this.#closing) return taken();
    this.#writer.writeInTurn(this.#frame(options.text === true ? OPCODE.text : OPCODE.binary, parts), taken);
  }

  /** Asks for a sign of life; an answer arrives like anything else. */
  ping(): void {
    // A server that is done may have closed already: to write would lose a client what it has not read yet.
    if (this.#held && this.#role === 'client') return;
    if (!this.#closing) this.#writer.writeNow(this.#frame(OPCODE.ping, []));
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
    this.#held = true;
    const ping = setInterval(() => this.ping(), HELD_PING_MS);
    const gone = Promise.withResolvers<void>();
    this.transport.once('close', gone.resolve);
    await Promise.race([done, gone.promise]);
    this.transport.off('close', gone.resolve);
    clearInterval(ping);
    this.#held = false;
  }

  /** False: the connection is over. */
  #takeControl(opcode: number, data: Buffer): boolean {
    if (opcode === OPCODE.ping && !this.#closing) this.#writer.writeNow(this.#frame(OPCODE.pong, [data]));
    if (opcode !== OPCODE.close) return true;
    const code = data.length >= 2 ? data.readUInt16BE(0) : CLOSE.normal;
    this.#peerClose = { code, reason: data.toString('utf8', 2) };
    if (!this.#closing) this.#sendClose(code, '');
    return false;
  }

  #sendClose(code: number, reason: string): void {
    const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
    payload.writeUInt16BE(code, 0);
    payload.write(reason, 2);
    this.#writer.writeNow(this.#frame(OPCODE.close, [payload]));
  }

  #frame(opcode: number, payload: readonly Uint8Array[]): Uint8Array[] {
    return encodeFrame(opcode, payload, { role: this.#role });
  }
}
