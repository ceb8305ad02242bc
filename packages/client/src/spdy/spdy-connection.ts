import type { Duplex } from 'node:stream';
import { TransportWriter } from '../websocket/transport-writer.ts';
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './header-block.ts';
import {
  CONTROL,
  type ControlFrame,
  controlFrame,
  dataHeader,
  type DataPiece,
  FLAG_FIN,
  INITIAL_WINDOW_SIZE,
  numbersFrame,
  numbersOf,
  RESET,
  SpdyFrameReader,
  SpdyProtocolError,
} from './spdy-frames.ts';
import { type ResetMeans, SpdyStream, type StreamLink, WINDOW_BYTES } from './spdy-stream.ts';

const MAX_STREAMS = 2000;
const MAX_DATA_BYTES = 32 * 1024;
const GOAWAY_OK = 0;
const GOAWAY_PROTOCOL_ERROR = 1;
/** How long the peer may take to close its side after we have. */
const LINGER_MS = 5000;
/** While we do not read, only a write tells that the peer is gone. */
const HELD_PING_MS = 5000;

export interface SpdyConnectionOptions {
  /** Makes this the server's end: takes the streams that the client opens. It may throw: the stream is refused then. */
  onStream?: ((stream: SpdyStream) => void) | undefined;
  /** Default `drop`. */
  resetMeans?: ResetMeans | undefined;
}

/**
 * One end of a SPDY/3.1 connection, either of them.
 *
 * S1: A stream that nobody reads holds back a peer that keeps to windows on that stream alone. kubectl and kube-apiserver do not:
 *     their connection is held back as a whole when a stream has several windows unread.
 * S2: Windows of the peer are kept to from the first sign that it counts (SETTINGS with a window, WINDOW_UPDATE). One that never
 *     gives any, as spdystream, would otherwise be waited for without end.
 *     A client gives none, as kubectl: a server that is done closes at once, and what it has not read by then of ours has its
 *     kernel throw away what we have not received yet of its own.
 * S3: What is not SPDY/3.1 or exceeds a limit ends the connection.
 * S4: At a client's end what has arrived of a stream can be read, also where the connection ends right behind it, as kubelets do
 *     when a command is over.
 */
export class SpdyConnection implements StreamLink {
  readonly #transport: Duplex;
  readonly #writer: TransportWriter;
  readonly #onStream: ((stream: SpdyStream) => void) | undefined;
  readonly #resetMeans: ResetMeans;
  readonly #frames = new SpdyFrameReader();
  readonly #headerWriter = new HeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();
  #headerReader: HeaderReader | undefined;
  /** Of the peer's. */
  #lastStreamId = 0;
  /** Of ours. */
  #nextStreamId: number;
  #peerCounts = false;
  #peerInitialWindow = WINDOW_BYTES;
  #sendWindow = WINDOW_BYTES;
  #uncredited = 0;
  #pingId: number;
  #closing = false;
  /** A stream is not read: nothing more is, of any. */
  #held = false;
  /** Since the last ping. */
  #heard = false;
  /** Streams that wait for a window. */
  readonly #starved = new Set<() => void>();

  constructor(transport: Duplex, { onStream, resetMeans = 'drop' }: SpdyConnectionOptions = {}) {
    this.#transport = transport;
    this.#writer = new TransportWriter(transport);
    this.#onStream = onStream;
    this.#resetMeans = resetMeans;
    this.#nextStreamId = onStream === undefined ? 1 : 2;
    this.#pingId = onStream === undefined ? -1 : 0;
    transport.on('error', () => {}); // Whoever reads is told by its end.
  }

  /** Opens a stream: bytes may be written to it at once. */
  open(headers: SpdyHeaders): SpdyStream {
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    const sendWindow = this.#peerInitialWindow;
    const stream = new SpdyStream(this, { id, headers, sendWindow, resetMeans: this.#resetMeans });
    if (this.#closing || this.#transport.destroyed) return stream.destroy();
    this.#streams.set(id, stream);
    // The stream that it belongs to, which there is none, and its priority, of which there is one.
    const head = Buffer.concat([numbersOf(id, 0), Buffer.alloc(2)]);
    this.#writer.writeNow([controlFrame(CONTROL.synStream, Buffer.concat([head, this.#headerWriter.write(headers)]))]);
    return stream;
  }

  /** Serves until the connection ends, whoever ends it. */
  async run(): Promise<void> {
    try {
      for await (const chunk of this.#transport.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#heard = true;
        for (const frame of this.#frames.read(chunk)) {
          const done = frame.kind === 'data' ? this.#takeData(frame) : this.#takeControl(frame);
          if (done !== undefined) await done;
        }
        await this.#writer.room();
      }
    } catch (error) {
      if (error instanceof SpdyProtocolError) {
        this.#writer.writeNow([numbersFrame(CONTROL.goAway, this.#lastStreamId, GOAWAY_PROTOCOL_ERROR)]);
      }
    } finally {
      this.#closing = true;
      this.#transport.end(() => this.#transport.destroy());
      this.#headerReader?.close();
      for (const stream of this.#streams.values()) stream.receiveReset();
    }
  }

  /** Sends what streams have been given, says goodbye and ends. */
  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#writer.writeNow([numbersFrame(CONTROL.goAway, this.#lastStreamId, GOAWAY_OK)]);
    this.#transport.end();
    const timer = setTimeout(() => this.#transport.destroy(), LINGER_MS);
    timer.unref();
    this.#transport.once('close', () => clearTimeout(timer));
  }

  #takeData({ streamId, data, fin }: DataPiece): Promise<void> | undefined {
    // At once, or one stream that is not read would hold back the others.
    this.#creditConnection(data.length);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      if (!this.#wasOpened(streamId)) throw new SpdyProtocolError('data of no stream');
      return undefined;
    }
    if (stream.receive(data, fin)) return undefined;
    return this.#holdFor(stream);
  }

  #wasOpened(id: number): boolean {
    if (id === 0) return false;
    return this.#isOfPeer(id) ? id <= this.#lastStreamId : id < this.#nextStreamId;
  }

  /** Clients count in odd numbers, servers in even ones: streams and pings. */
  #isOfPeer(id: number): boolean {
    return (id % 2 === 0) === this.#isClient;
  }

  async #holdFor(stream: SpdyStream): Promise<void> {
    this.#held = true;
    const ping = setInterval(() => this.ping(), HELD_PING_MS);
    const free = (): void => void stream.destroy();
    this.#transport.once('close', free);
    await stream.drained();
    this.#transport.off('close', free);
    clearInterval(ping);
    this.#held = false;
  }

  /**
   * A sign of life, for what stands in between and forgets connections on which nothing comes. A client gives it where nothing has
   * come since the last (S2).
   */
  ping(): void {
    const quiet = !this.#heard && !this.#held;
    this.#heard = false;
    if (this.#closing || (this.#isClient && !quiet)) return;
    this.#pingId = (this.#pingId + 2) & 0x7fffffff;
    this.#writer.writeNow([numbersFrame(CONTROL.ping, this.#pingId)]);
  }

  #takeControl({ type, flags, payload }: ControlFrame): Promise<void> | undefined {
    switch (type) {
      case CONTROL.synStream:
        return this.#takeSynStream(payload, flags);
      case CONTROL.synReply:
      case CONTROL.headers:
        return this.#takeHeaders(payload, flags);
      case CONTROL.rstStream:
        this.#streams.get(numberAt(payload, 0))?.receiveReset();
        return undefined;
      case CONTROL.settings:
        this.#takeSettings(payload);
        return undefined;
      case CONTROL.ping: {
        const id = numberAt(payload, 0);
        if (this.#isOfPeer(id)) this.#writer.writeNow([numbersFrame(CONTROL.ping, id)]);
        return undefined;
      }
      case CONTROL.windowUpdate:
        this.#takeWindowUpdate(numberAt(payload, 0) & 0x7fffffff, numberAt(payload, 4) & 0x7fffffff);
        return undefined;
      default:
        return undefined; // GOAWAY: the end follows. Unknown ones are to be passed over.
    }
  }

  async #takeSynStream(payload: Buffer, flags: number): Promise<void> {
    const id = numberAt(payload, 0) & 0x7fffffff;
    const headers = await this.#readHeaders(payload.subarray(10));
    if (!this.#isOfPeer(id) || id <= this.#lastStreamId) return this.#reset(id, RESET.protocolError);
    this.#lastStreamId = id;
    const refused = this.#onStream === undefined || this.#closing || this.#streams.size >= MAX_STREAMS;
    if (refused) return this.#reset(id, RESET.refusedStream);
    const sendWindow = this.#peerInitialWindow;
    const stream = new SpdyStream(this, { id, headers, sendWindow, resetMeans: this.#resetMeans });
    this.#streams.set(id, stream);
    this.#writer.writeNow([
      controlFrame(CONTROL.synReply, Buffer.concat([numbersOf(id), this.#headerWriter.write(new Map())])),
    ]);
    try {
      this.#onStream?.(stream);
    } catch {
      stream.destroy();
      return;
    }
    if ((flags & FLAG_FIN) !== 0) stream.receive(Buffer.alloc(0), true);
  }

  async #takeHeaders(payload: Buffer, flags: number): Promise<void> {
    const id = numberAt(payload, 0) & 0x7fffffff;
    await this.#readHeaders(payload.subarray(4));
    if ((flags & FLAG_FIN) !== 0) this.#streams.get(id)?.receive(Buffer.alloc(0), true);
  }

  async #readHeaders(block: Buffer): Promise<SpdyHeaders> {
    this.#headerReader ??= new HeaderReader();
    return await this.#headerReader.read(block);
  }

  #takeSettings(payload: Buffer): void {
    const count = numberAt(payload, 0);
    if (count * 8 + 4 > payload.length) throw new SpdyProtocolError('settings that end too early');
    for (let index = 0; index < count; index++) {
      if ((numberAt(payload, 4 + index * 8) & 0xffffff) !== INITIAL_WINDOW_SIZE) continue;
      const size = numberAt(payload, 8 + index * 8) & 0x7fffffff;
      const change = size - this.#peerInitialWindow;
      this.#peerInitialWindow = size;
      this.#peerCounts = true;
      for (const stream of this.#streams.values()) stream.sendWindow += change;
    }
    this.#feed();
  }

  #takeWindowUpdate(id: number, bytes: number): void {
    this.#peerCounts = true;
    if (id === 0) this.#sendWindow += bytes;
    else {
      const stream = this.#streams.get(id);
      if (stream !== undefined) stream.sendWindow += bytes;
    }
    this.#feed();
  }

  #feed(): void {
    const starved = [...this.#starved];
    this.#starved.clear();
    for (const retry of starved) retry();
  }

  #reset(id: number, status: number): void {
    this.#writer.writeNow([numbersFrame(CONTROL.rstStream, id, status)]);
  }

  sendData(stream: SpdyStream, data: Buffer, sent: (bytes: number) => void): void {
    if (stream.destroyed || this.#transport.destroyed) return sent(data.length);
    let length = Math.min(data.length, MAX_DATA_BYTES);
    if (this.#peerCounts) length = Math.min(length, stream.sendWindow, this.#sendWindow);
    if (length <= 0) {
      this.#starved.add(() => this.sendData(stream, data, sent));
      return;
    }
    stream.sendWindow -= length;
    this.#sendWindow -= length;
    const frame = [dataHeader(stream.id, length, false), data.subarray(0, length)];
    this.#writer.writeInTurn(frame, () => sent(length));
  }

  sendFin(stream: SpdyStream): void {
    this.#writer.writeNow([dataHeader(stream.id, 0, true)]);
  }

  sendReset(stream: SpdyStream): void {
    this.#reset(stream.id, RESET.cancel);
  }

  credit(stream: SpdyStream, bytes: number): void {
    if (this.#isClient) return;
    this.#writer.writeNow([numbersFrame(CONTROL.windowUpdate, stream.id, bytes)]);
  }

  get #isClient(): boolean {
    return this.#onStream === undefined;
  }

  #creditConnection(bytes: number): void {
    this.#uncredited += bytes;
    if (this.#isClient || this.#uncredited < WINDOW_BYTES / 2) return;
    this.#writer.writeNow([numbersFrame(CONTROL.windowUpdate, 0, this.#uncredited)]);
    this.#uncredited = 0;
  }

  forget(stream: SpdyStream): void {
    this.#streams.delete(stream.id);
    this.#feed();
  }
}

function numberAt(payload: Buffer, at: number): number {
  if (at + 4 > payload.length) throw new SpdyProtocolError('control frame that ends too early');
  return payload.readUInt32BE(at);
}
