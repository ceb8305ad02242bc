import { Duplex } from 'node:stream';
import {
  CLOSE,
  type Clock,
  type MessagePiece,
  systemClock,
  WebSocketConnection,
  WebSocketProtocolError,
  type WebSocketRole,
} from '@asterism/client';
import { DEFAULT_LIMITS, type TunnelLimits } from '../limits.ts';
import { bytesOf } from './socket.ts';

export interface WebSocketCarrierOptions {
  /** `client` for the end that dialled. */
  role: WebSocketRole;
  limits?: Partial<Pick<TunnelLimits, 'pingIntervalMs' | 'pingTimeoutMs'>> | undefined;
  /** Default: the system's. */
  clock?: Clock | undefined;
}

/** What one message carries at most; what is read of another end may be longer, as something between may join frames. */
const MESSAGE_BYTES = 64 << 10;
const MAX_FRAME_BYTES = 16 << 20;
/** How long a carrier that breaks off tries to say so. */
const FAREWELL_MS = 1_000;

/**
 * A byte stream in the binary messages of a WebSocket connection, for lines that let nothing else pass. To the tunnel it is a socket
 * like another:
 *
 * - W1 the bytes count, however they are cut into messages and frames;
 * - W2 an empty message is the end of one direction; the other goes on. Behind both a Close with 1000 ends the connection;
 * - W3 a Close, or an end, without that empty message is a connection that broke: nobody takes what came for all;
 * - W4 a reader that stops stops the reading of the socket, and a socket that takes no more stops the writer: nothing is queued;
 * - W5 a Ping goes out when nothing was sent for `pingIntervalMs`, so that no box between forgets the connection; where nothing came for
 *   `pingTimeoutMs` longer, while somebody reads, the peer is gone.
 */
export class WebSocketCarrier extends Duplex {
  /** Beneath the messages. */
  readonly line: Duplex;
  readonly #connection: WebSocketConnection;
  readonly #stopKeepAlive: () => void;
  /** Bytes of the message that is coming. */
  #messageBytes = 0;
  #peerEnded = false;
  #wanted: (() => void) | undefined;

  constructor(line: Duplex, { role, limits, clock = systemClock }: WebSocketCarrierOptions) {
    super({ highWaterMark: MESSAGE_BYTES });
    this.line = line;
    // Its end is told by messages: the socket's own is that of all.
    line.allowHalfOpen = true;
    this.#connection = new WebSocketConnection(line, { role, maxFrameBytes: MAX_FRAME_BYTES });
    this.#stopKeepAlive = this.#keepAlive({ ...DEFAULT_LIMITS, ...limits }, clock);
    void this.#connection.run((piece) => this.#take(piece)).then(() => this.#over());
  }

  /** W1, W2, W4. */
  #take({ data, text, start, end }: MessagePiece): Promise<void> | undefined {
    if (this.destroyed) return undefined;
    if (text) throw new WebSocketProtocolError('a text message: the tunnel is bytes', CLOSE.unsupported);
    this.#messageBytes = (start ? 0 : this.#messageBytes) + data.length;
    const isEnd = end && this.#messageBytes === 0;
    if (this.#peerEnded) throw new WebSocketProtocolError(isEnd ? 'a second end' : 'a message behind the end');
    if (isEnd) {
      this.#peerEnded = true;
      this.push(null);
      return undefined;
    }
    if (data.length === 0 || this.push(data)) return undefined;
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  /** The connection is over. What came before the peer's end is still to be read. */
  #over(): void {
    if (this.#peerEnded && !this.readableEnded) this.once('end', () => this.destroy());
    else this.destroy();
  }

  override _read(): void {
    this.#wanted?.();
    this.#wanted = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#connection.send([], { taken: () => done() });
  }

  /** W2 where both directions have ended, W3 before. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stopKeepAlive();
    this.#wanted?.();
    const { line } = this;
    if (this.#peerEnded && this.writableFinished) this.#connection.close();
    else if (!line.destroyed) {
      this.#connection.close(CLOSE.goingAway);
      const timer = setTimeout(() => line.destroy(), FAREWELL_MS).unref();
      line.once('close', () => clearTimeout(timer)).end(() => line.destroy());
    }
    done(error);
  }

  /** In messages of a bounded size; empty writes are none, as an empty message is the end. */
  #send(parts: readonly Buffer[], done: (error?: Error | null) => void): void {
    if (this.line.destroyed) return done(new Error('the connection is closed'));
    const message: Buffer[] = [];
    const rest: Buffer[] = [];
    let room = MESSAGE_BYTES;
    for (const part of parts) {
      if (part.length === 0) continue;
      if (room > 0) message.push(part.subarray(0, room));
      if (part.length > room) rest.push(part.subarray(room));
      room -= Math.min(room, part.length);
    }
    if (message.length === 0) return done();
    this.#connection.send(message, { taken: () => (rest.length > 0 ? this.#send(rest, done) : done()) });
  }

  /** W5. @returns what stops it. */
  #keepAlive({ pingIntervalMs, pingTimeoutMs }: TunnelLimits, clock: Clock): () => void {
    let before = bytesOf(this.line);
    let cancelTimer = (): void => {};
    const later = (act: () => void, ms: number): void => {
      cancelTimer = clock.setTimer(act, ms, { background: true });
    };
    const judge = (received: number): void => {
      if (this.destroyed) return;
      const silent = this.#wanted === undefined && bytesOf(this.line).received === received;
      if (silent) this.line.destroy();
    };
    const beat = (): void => {
      const now = bytesOf(this.line);
      const quiet = now.received === before.received && this.#wanted === undefined;
      if (now.sent === before.sent || quiet) this.#connection.ping();
      before = bytesOf(this.line);
      if (!quiet) return later(beat, pingIntervalMs);
      // After a pause of this whole process timers fire before what has arrived meanwhile is read: let that be read first.
      later(() => {
        setImmediate(() => setImmediate(judge, now.received));
        later(beat, Math.max(0, pingIntervalMs - pingTimeoutMs));
      }, pingTimeoutMs);
    };
    later(beat, pingIntervalMs);
    return () => cancelTimer();
  }
}
