import { Reset } from './frame.ts';
import { TunnelError } from '../tunnel-error.ts';

/** What a stream tells of what comes from the other end. */
export interface FrameStreamListener {
  /** The lines of a head; `last` when nothing follows it. */
  onHead(lines: string[], last: boolean): void;
  /** All that had arrived together was told of: of what comes next nothing is here yet. */
  onPause(): void;
  /** `piece` may be empty where it is the last. */
  onData(piece: Buffer, last: boolean): void;
  /** What was written has gone, after a `write` that said false. */
  onWritable(): void;
  /** All that this end has to say has gone out. */
  onEnded(): void;
  /** Called once, last of all: with code 0 when each end has said all that it wanted to. */
  onClose(code: number): void;
}

/** The connection, as its streams need it. */
export interface FrameCarrier {
  /** How much may be sent now; 0 or less: nothing, and {@link FrameStream.pump} is called when that has changed. */
  roomFor(stream: FrameStream): number;
  queueHead(id: number, text: string, last: boolean): void;
  queueData(id: number, piece: Uint8Array, last: boolean): void;
  queueReset(id: number, code: number): void;
  queueCredit(id: number, bytes: number): void;
  /** Bytes of a body, of any call, were read here. */
  onRead(bytes: number): void;
  /** What one call may have under way and unread, now. */
  window(): number;
  forget(stream: FrameStream): void;
}

/**
 * One call on a connection of frames: a head and a body in each direction. Codes: {@link Reset}.
 *
 * open → ended by this end or the other → closed; reset by either → closed.
 */
export class FrameStream {
  readonly id: number;
  /** Bytes that the other end lets this one send. */
  credit: number;
  listener: FrameStreamListener | undefined;
  readonly #carrier: FrameCarrier;
  #pending: Uint8Array[] = [];
  #ending = false;
  #ended = false;
  #otherEnded = false;
  #ignoring = false;
  #closed = false;
  /** Came, and was not read yet. */
  #unread = 0;
  /** What the other end may still send. */
  #given: number;

  /** @param credits that each end begins with. */
  constructor(id: number, credits: { sending: number; receiving: number }, carrier: FrameCarrier) {
    this.id = id;
    this.credit = credits.sending;
    this.#given = credits.receiving;
    this.#carrier = carrier;
  }

  /** Everything that this end has to say has gone out. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Everything that the other end has to say was told. */
  get otherEnded(): boolean {
    return this.#otherEnded;
  }

  get closed(): boolean {
    return this.#closed;
  }

  head(text: string, last: boolean): void {
    if (this.#closed) return;
    this.#carrier.queueHead(this.id, text, last);
    if (last) this.#finish();
  }

  /** False: write no more before `onWritable`. */
  write(piece: Uint8Array): boolean {
    if (this.#closed || this.#ending) return true;
    if (this.#pending.length === 0) {
      const room = this.#carrier.roomFor(this);
      if (room >= piece.length) {
        this.#send(piece, false);
        return true;
      }
    }
    this.#pending.push(piece);
    this.pump();
    return this.#pending.length === 0;
  }

  /** Nothing follows, but what was written. */
  end(): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#pending.length > 0) return;
    this.#carrier.queueData(this.id, EMPTY, true);
    this.#finish();
  }

  /** Breaks it off: the other end takes nothing that came for whole. With 0 where both have said all that counts. */
  reset(code: number): void {
    if (this.#closed) return;
    this.#carrier.queueReset(this.id, code);
    this.close(code);
  }

  /** So much of what came was read. */
  read(bytes: number): void {
    this.#unread -= bytes;
    this.#carrier.onRead(bytes);
    this.giveCredit(this.#carrier.window());
  }

  /** Of the other end's body nothing more is wanted: it is not told of, and the other end gets no more credit for it. */
  ignoreRest(): void {
    this.#ignoring = true;
  }

  /** Lets the other end fill a window, where that is worth telling. */
  giveCredit(window: number): void {
    if (this.#closed || this.#otherEnded || this.#ignoring) return;
    const missing = window - this.#given - this.#unread;
    if (missing < window / 4) return;
    this.#given += missing;
    this.#carrier.queueCredit(this.id, missing);
  }

  /** Sends what waits, as far as it may. */
  pump(): void {
    if (this.#pending.length === 0) return;
    while (this.#pending.length > 0) {
      const room = this.#carrier.roomFor(this);
      if (room <= 0) return;
      const first = this.#pending[0] as Uint8Array;
      if (first.length > room) {
        this.#pending[0] = first.subarray(room);
        this.#send(first.subarray(0, room), false);
        continue;
      }
      this.#pending.shift();
      const last = this.#ending && this.#pending.length === 0;
      this.#send(first, last);
      if (last) return this.#finish();
    }
    if (!this.#closed) this.listener?.onWritable();
  }

  /** By the connection: a head came. */
  takeHead(lines: string[], last: boolean): void {
    if (last) this.#otherEnded = true;
    this.listener?.onHead(lines, last);
    if (last) this.#closeIfOver();
  }

  /** By the connection: a piece came. @throws TunnelError `PROTOCOL` where it should not have. */
  takeData(piece: Buffer, last: boolean): void {
    if (this.#otherEnded || piece.length > this.#given) {
      throw new TunnelError('PROTOCOL', 'a body goes on behind its end, or its credit');
    }
    this.#given -= piece.length;
    this.#unread += piece.length;
    if (last) this.#otherEnded = true;
    if (this.#ignoring) this.read(piece.length);
    else this.listener?.onData(piece, last);
    if (last) this.#closeIfOver();
  }

  /** By the connection: it was reset, or nothing more comes. */
  close(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending = [];
    this.#carrier.forget(this);
    this.listener?.onClose(code);
  }

  #send(piece: Uint8Array, last: boolean): void {
    this.credit -= piece.length;
    this.#carrier.queueData(this.id, piece, last);
  }

  #finish(): void {
    this.#ended = true;
    this.#closeIfOver();
    if (!this.#closed) this.listener?.onEnded();
  }

  #closeIfOver(): void {
    if (this.#ended && this.#otherEnded) this.close(Reset.none);
  }
}

const EMPTY = new Uint8Array(0);
