import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { BufferCollection } from '@asterism/runtime';
import type { TunnelLimits } from '../limits.ts';
import { TunnelError } from '../tunnel-error.ts';
import {
  FrameReader,
  FrameType,
  formatFrame,
  formatHello,
  formatTextFrame,
  type Hello,
  LAST,
  parseHello,
  numberOf,
  Reset,
} from './frame.ts';
import { FramePings } from './frame-pings.ts';
import { type FrameCarrier, FrameStream } from './frame-stream.ts';
import { FrameWriter } from './frame-writer.ts';

/** With so much more to be written nobody gets answers to PINGs: whoever sends them does not read. */
const MAX_UNREAD = 1 << 20;

/** A read of so much, a full record of TLS, is mostly one of several. */
const FULL_READ = 16 << 10;
/** So much that came together is passed on, whether more follows or not. */
const MAX_GATHERED = 128 << 10;

/**
 * What a call may send ahead of its reader: as much as the line carries at {@link LINE_RATE} in a round trip, so that a far one is full;
 * or its part of {@link SHARED_WINDOW}, which is what can be passed on without being moved to the memory of what lives long.
 */
const LINE_RATE = 256 << 10; // Bytes a millisecond.
const SHARED_WINDOW = 1 << 20;
const MIN_WINDOW = 128 << 10;
/** With this each call begins; where the line is long it is given more at once. */
const FIRST_WINDOW = 256 << 10;

/** A head as HTTP/1.1 writes it is at most so much larger than {@link TunnelLimits.maxHeaderBytes} counts, and has a path. */
const HEAD_FACTOR = 2;

interface Events {
  /** The other end's HELLO came. */
  remoteSettings: [];
  /** A call came, with the frame that its head is in. By the end that dialled. */
  stream: [stream: FrameStream];
  /** The other end takes, or opens, no more calls. */
  goaway: [];
  /** The hub wants a byte pipe. */
  want: [];
  error: [error: Error];
  close: [];
}

/**
 * Many calls over one connection, each a {@link FrameStream}. Named after Node's `Http2Session`, in whose place it stands.
 *
 * F1 A direction of a call ends by a frame that says so; whatever else ends it is a reset, also the end of the connection.
 * F2 Nobody sends more of a body than the other end gave credit for, for the call and for the connection.
 * F3 What is written in one turn of the event loop leaves in one piece.
 * F4 Behind LEAVE no call is taken; those above its number were not looked at.
 * F5 What comes in full reads in one turn of the event loop is told of as one; what comes in a smaller read, at once.
 */
export class FrameSession extends EventEmitter<Events> {
  /** When something last came, in ms of `performance.now()`. */
  heardAt = performance.now();
  readonly #socket: Duplex;
  readonly #limits: TunnelLimits;
  readonly #opens: boolean;
  readonly #buffers: BufferCollection;
  readonly #streams = new Map<number, FrameStream>();
  readonly #reader: FrameReader;
  /** That wait for room on the connection, in the order in which they came. */
  readonly #waiting = new Set<FrameStream>();
  /** Of which something came, and which were not told that this is all for now. */
  readonly #touched = new Set<FrameStream>();
  /** Bytes that came since they were told. */
  #untold = 0;
  #telling = false;
  readonly #pings = new FramePings();
  #remote: Hello | undefined;
  readonly #firstWindow: number;
  #credit = 0;
  /** Was read, and the other end does not know yet. */
  #readBytes = 0;
  /** F3. */
  readonly #writer: FrameWriter;
  #lastId = 0;
  #leaving = false;
  #destroyed = false;

  /** @param opens whether this end opens calls: the hub. */
  constructor(socket: Duplex, limits: TunnelLimits, { opens, buffers }: { opens: boolean; buffers: BufferCollection }) {
    super();
    this.#buffers = buffers;
    this.#socket = socket;
    this.#limits = limits;
    this.#opens = opens;
    this.#reader = new FrameReader(limits.maxHeaderBytes * HEAD_FACTOR);
    this.#firstWindow = Math.min(limits.streamWindow, FIRST_WINDOW);
    const { connectionWindow, maxStreams, maxFrameSize } = limits;
    const onRoom = (): void => this.#pump();
    const onWritten = (): void => this.#endIfOver();
    this.#writer = new FrameWriter(socket, { maxFrameSize, buffers, onRoom, onWritten });
    this.#writer.push(formatHello({ streamWindow: this.#firstWindow, connectionWindow, maxStreams }));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => this.destroy());
    socket.on('close', () => this.destroy());
    socket.on('error', (error) => this.#fail(error));
    socket.resume(); // Whoever has read the answer to the upgrade may have paused it.
  }

  get remoteSettings(): { maxConcurrentStreams?: number } {
    return this.#remote ? { maxConcurrentStreams: this.#remote.maxStreams } : {};
  }

  get closed(): boolean {
    return this.#leaving || this.#destroyed;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** @throws Error where no call can be opened now. */
  open(): FrameStream {
    if (this.closed || !this.#remote) throw new Error('the connection takes no calls');
    return this.#begin(++this.#lastId, this.#remote);
  }

  ping(onAnswer: (error: Error | null) => void): void {
    this.#writer.push(formatFrame(FrameType.ping, 0, this.#pings.begin(onAnswer)));
  }

  /** Asks the end that dialled for a byte pipe. */
  wantPipe(): void {
    this.#writer.push(formatFrame(FrameType.want, 0));
  }

  /** Takes, or opens, no more calls, tells the other end so, and ends after the last that runs. */
  close(): void {
    if (this.closed) return;
    this.#leaving = true;
    this.#writer.push(formatFrame(FrameType.leave, 0, this.#opens ? 0 : this.#lastId));
    this.#endIfOver();
  }

  /** Ends it now. With an error calls that run fail; so they do without. */
  destroy(error?: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#writer.close();
    this.#tellPause();
    for (const stream of this.#streams.values()) stream.close(Reset.failed);
    this.#pings.fail(error ?? new Error('the connection ended'));
    this.#socket.destroy();
    this.emit('close');
  }

  readonly #carrier: FrameCarrier = {
    roomFor: (stream) => {
      if (stream.credit <= 0 || this.#destroyed) return 0;
      if (this.#credit > 0 && !this.#writer.isFull) {
        return Math.min(this.#credit, stream.credit, this.#limits.maxFrameSize);
      }
      this.#waiting.add(stream);
      return 0;
    },
    queueHead: (id, text, last) => {
      this.#writer.push(formatTextFrame(last ? FrameType.head | LAST : FrameType.head, id, text));
      // The answer's body is to find the line open.
      if (this.#opens) this.#streams.get(id)?.giveCredit(this.#lineWindow);
    },
    queueData: (id, piece, last) => {
      this.#credit -= piece.length;
      this.#writer.pushData(id, piece, last);
    },
    queueReset: (id, code) => this.#writer.push(formatFrame(FrameType.reset, id, code)),
    queueCredit: (id, bytes) => this.#writer.push(formatFrame(FrameType.credit, id, bytes)),
    onRead: (bytes) => this.#onRead(bytes),
    window: () => Math.max(this.#lineWindow, Math.min(SHARED_WINDOW / this.#streams.size, this.#limits.streamWindow)),
    forget: (stream) => {
      this.#streams.delete(stream.id);
      this.#waiting.delete(stream);
      if (this.#streams.size === 0) this.#writer.release();
      this.#endIfOver();
    },
  };

  #take(chunk: Buffer): void {
    if (this.#destroyed) return;
    this.heardAt = performance.now();
    this.#buffers.count(chunk.length);
    try {
      this.#reader.read(chunk, this);
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.#untold += chunk.length;
    if (chunk.length < FULL_READ || this.#untold >= MAX_GATHERED) return this.#tellPause();
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => {
      this.#telling = false;
      this.#tellPause();
    });
  }

  /** F5. Nothing more is here yet. */
  #tellPause(): void {
    this.#untold = 0;
    for (const stream of this.#touched) {
      this.#touched.delete(stream);
      stream.listener?.onPause();
    }
  }

  onData(id: number, piece: Buffer, last: boolean): void {
    const stream = this.#streams.get(id);
    if (!stream) return this.#onRead(piece.length); // Of a call that was broken off here.
    this.#touched.add(stream);
    stream.takeData(piece, last);
  }

  onFrame(type: number, id: number, payload: Buffer): void {
    if (!this.#remote) {
      if (type !== FrameType.hello) throw new TunnelError('PROTOCOL', 'the other end does not begin with HELLO');
      this.#remote = parseHello(payload);
      this.#credit = this.#remote.connectionWindow;
      this.ping(() => {}); // Says how long the line is.
      this.emit('remoteSettings');
      return;
    }
    const last = type >= LAST;
    switch (type & ~LAST) {
      case FrameType.head:
        return this.#takeHead(id, payload, last);
      case FrameType.data:
        if (last) this.onData(id, payload, last);
        return;
      case FrameType.credit:
        return this.#takeCredit(id, numberOf(payload));
      case FrameType.reset:
        return this.#streams.get(id)?.close(numberOf(payload));
      case FrameType.ping:
        if (this.#writer.queued > MAX_UNREAD) throw new TunnelError('PROTOCOL', 'the other end asks and does not read');
        return this.#writer.push(formatFrame(FrameType.pong, 0, numberOf(payload)));
      case FrameType.pong:
        return this.#pings.answered(numberOf(payload));
      case FrameType.leave:
        return this.#takeLeave(numberOf(payload));
      case FrameType.want:
        return void this.emit('want');
      default: // A later version's.
    }
  }

  #takeHead(id: number, payload: Buffer, last: boolean): void {
    const stream = this.#opens ? this.#streams.get(id) : this.#openedByOther(id);
    if (!stream) return;
    const end = payload.length - 4; // Behind its last line there are two ends of lines.
    this.#touched.add(stream);
    if (!this.#opens && !last) stream.giveCredit(this.#lineWindow);
    stream.takeHead(payload.toString('latin1', 0, Math.max(0, end)).split('\r\n'), last);
  }

  #openedByOther(id: number): FrameStream | undefined {
    if (id <= this.#lastId) throw new TunnelError('PROTOCOL', 'a call is opened twice');
    if (this.#leaving) return undefined;
    this.#lastId = id;
    if (this.#streams.size >= this.#limits.maxStreams) {
      this.#writer.push(formatFrame(FrameType.reset, id, Reset.refused));
      return undefined;
    }
    const stream = this.#begin(id, this.#remote as Hello);
    this.emit('stream', stream);
    return stream;
  }

  #begin(id: number, remote: Hello): FrameStream {
    const credits = { sending: remote.streamWindow, receiving: this.#firstWindow };
    const stream = new FrameStream(id, credits, this.#carrier);
    this.#streams.set(id, stream);
    return stream;
  }

  #takeCredit(id: number, bytes: number): void {
    if (id === 0) {
      this.#credit += bytes;
      return this.#pump();
    }
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.credit += bytes;
    stream.pump();
  }

  #takeLeave(lastId: number): void {
    this.#leaving = true;
    this.emit('goaway');
    if (this.#opens) {
      for (const stream of this.#streams.values()) {
        if (stream.id > lastId) stream.close(Reset.refused);
      }
    }
  }

  #onRead(bytes: number): void {
    this.#readBytes += bytes;
    if (this.#readBytes < this.#limits.connectionWindow / 4) return;
    this.#writer.push(formatFrame(FrameType.credit, 0, this.#readBytes));
    this.#readBytes = 0;
  }

  /** What fills the line; all that is allowed until one knows how long that is. */
  get #lineWindow(): number {
    return Math.min(this.#limits.streamWindow, Math.max(MIN_WINDOW, this.#pings.roundTripMs * LINE_RATE));
  }

  /** There is room on the connection again: each that waits takes some, in turn. */
  #pump(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const stream of waiting) stream.pump();
  }

  #endIfOver(): void {
    if (!this.#leaving || this.#streams.size > 0 || this.#writer.isBusy || this.#destroyed) return;
    // The hub waits for what an agent that leaves has still to say; the agent ends the connection.
    this.#socket.end();
  }

  #fail(error: Error): void {
    if (this.#destroyed) return;
    this.emit('error', error);
    this.destroy(error);
  }
}
