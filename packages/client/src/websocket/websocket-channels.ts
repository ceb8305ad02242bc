import { Readable, Writable } from 'node:stream';
import { UnreadBytes } from './unread-bytes.ts';
import type { WebSocketConnection } from './websocket-connection.ts';
import { CLOSE, type MessagePiece, WebSocketProtocolError } from './websocket-frames.ts';

/** Messages on this channel name channels that their sender has ended (`v5.channel.k8s.io`). */
const CLOSE_CHANNEL = 255;
const MAX_DATA_BYTES = 32 * 1024;
/** Of a message in base64, which has to be held as a whole. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** Numbered byte streams over one WebSocket connection: the first byte of each message says which. */
export class WebSocketChannels {
  readonly connection: WebSocketConnection;
  readonly #base64: boolean;
  readonly #inputs = new Map<number, ChannelInput>();
  #current = -1;
  /** Since the last ping. */
  #heard = false;
  #text = '';

  /** `base64`: text messages, a digit for the channel and base64 behind it. */
  constructor(connection: WebSocketConnection, options: { base64: boolean }) {
    this.connection = connection;
    this.#base64 = options.base64;
  }

  /**
   * What the peer sends on a channel; it ends when the peer says so. With the connection it is destroyed, or ends, where that is
   * how peers tell (`endsWithConnection`).
   */
  input(channel: number, { endsWithConnection = false } = {}): Readable {
    const input = new ChannelInput(endsWithConnection);
    this.#inputs.set(channel, input);
    return input;
  }

  /** `tellsEnd`: its end is told to the peer, which has to know of that (`v5.channel.k8s.io`). */
  output(channel: number, { tellsEnd = false } = {}): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => this.#send(channel, chunk, callback),
      final: (callback) => {
        if (tellsEnd) this.connection.send([Buffer.from([CLOSE_CHANNEL, channel])]);
        callback();
      },
    }).on('error', () => {});
  }

  /** A message without content: it tells the peer that the channel works. */
  greet(channel: number): void {
    this.#send(channel, Buffer.alloc(0), () => {});
  }

  /**
   * A sign of life, where nothing has come since the last: what a server that is done has not read of ours has its kernel throw away
   * what we have not received yet of its own.
   */
  ping(): void {
    if (!this.#heard) this.connection.ping();
    this.#heard = false;
  }

  /** Until the connection ends. */
  async run(): Promise<void> {
    await this.connection.run((piece) => {
      this.#heard = true;
      return this.#base64 ? this.#takeText(piece) : this.#takeBinary(piece);
    });
    for (const input of this.#inputs.values()) input.receiveLoss();
  }

  #send(channel: number, chunk: Buffer, callback: (error?: Error | null) => void): void {
    if (this.connection.transport.destroyed) return callback(new Error('the connection is closed'));
    const part = chunk.subarray(0, MAX_DATA_BYTES);
    const rest = chunk.subarray(part.length);
    const taken = (): void => (rest.length > 0 ? this.#send(channel, rest, callback) : callback());
    if (this.#base64) {
      this.connection.send([Buffer.from(`${channel}${part.toString('base64')}`)], { text: true, taken });
    } else this.connection.send([Buffer.from([channel]), part], { taken });
  }

  #takeBinary({ data, start }: MessagePiece): Promise<void> | undefined {
    let bytes = data;
    if (start) this.#current = -1;
    if (this.#current < 0) {
      const [channel] = bytes;
      if (channel === undefined) return undefined;
      this.#current = channel;
      bytes = bytes.subarray(1);
    }
    return this.#give(this.#current, bytes);
  }

  #takeText({ data, start, end }: MessagePiece): Promise<void> | undefined {
    this.#text = (start ? '' : this.#text) + data.toString('latin1');
    if (this.#text.length > MAX_TEXT_BYTES) {
      throw new WebSocketProtocolError(`a message of more than ${MAX_TEXT_BYTES} bytes`, CLOSE.tooBig);
    }
    if (!end || this.#text === '') return undefined;
    const channel = this.#text.charCodeAt(0) - '0'.charCodeAt(0);
    return this.#give(channel, Buffer.from(this.#text.slice(1), 'base64'));
  }

  /** Bytes for channels that are not open are passed over. */
  #give(channel: number, bytes: Buffer): Promise<void> | undefined {
    if (channel === CLOSE_CHANNEL) {
      for (const ended of bytes) this.#inputs.get(ended)?.receiveEnd();
      return undefined;
    }
    return this.#inputs.get(channel)?.receive(bytes);
  }
}

class ChannelInput extends Readable {
  readonly #endsWithConnection: boolean;
  readonly #unread = new UnreadBytes(this);
  #ended = false;

  constructor(endsWithConnection: boolean) {
    super();
    this.#endsWithConnection = endsWithConnection;
  }

  receive(bytes: Buffer): Promise<void> | undefined {
    return this.#ended ? undefined : this.#unread.push(bytes);
  }

  receiveEnd(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.push(null);
  }

  receiveLoss(): void {
    if (this.#endsWithConnection) this.receiveEnd();
    else this.destroy();
  }

  override _read(): void {
    this.#unread.wake();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#unread.wake();
    callback(error);
  }
}
