import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { ApiResponse, PushedBody } from '../contract/api-request.ts';
import { pumpBody } from '../http/wire/pump-body.ts';
import type { Sink } from '../contract/sink.ts';
import { failureOf } from './failure-of.ts';
import type { AnswerFault } from './fault.ts';

/** What carries an answer. */
export type Wire = ServerHttp2Stream | ServerResponse;

export interface FaultyBodyOptions {
  /** Of a watch: made of lines, one for each event. */
  isWatch: boolean;
  /** Told where the answer goes, when it begins to. */
  onWire(wire: Wire): void;
  /** Resets the connection of this answer. */
  reset(wire: Wire): void;
  /** Told once, when it has ended or been left. */
  onEnd(): void;
}

type Body = NonNullable<ApiResponse['body']>;
type Piece = IteratorResult<Uint8Array, undefined>;

const DONE: Piece = { done: true, value: undefined };
/** What is left to do of a half frame. */
const CUT = { kind: 'cut' } as const;
const NEWLINE = 10;
/** How often a part of what is slow leaves. */
const STEPS_A_SECOND = 20;

/** The body of an answer, which faults may befall at its beginning and at any time until its end. */
export class FaultyBody implements PushedBody, AsyncIterator<Uint8Array, undefined> {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #options: FaultyBodyOptions;
  #fault: AnswerFault | typeof CUT | undefined;
  #wire: Wire | undefined;
  /** Asked for and not there yet, when a fault came between. */
  #pending: Promise<Piece> | undefined;
  /** There, and not sent yet. */
  #rest: Uint8Array | undefined;
  #wake: () => void = () => {};
  #listeners: (() => void)[] = [];
  #ended = false;

  constructor(body: Body, options: FaultyBodyOptions) {
    this.#source = body instanceof Uint8Array ? whole(body) : body[Symbol.asyncIterator]();
    this.#options = options;
  }

  /** A fault befalls it now, in place of any other. */
  strike(fault: AnswerFault): void {
    this.#fault = fault;
    this.#wake();
  }

  /** Goes on, if that fault has not ended it. */
  lift(fault: AnswerFault): void {
    if (this.#fault !== fault) return;
    this.#fault = undefined;
    this.#wake();
  }

  pushTo(sink: Sink): void {
    this.#wire = sink.stream as Wire;
    this.#options.onWire(this.#wire);
    pumpBody(sink, this).catch(() => {}); // The answer is cut off, which is what was to happen.
  }

  onEnd(listener: () => void): void {
    if (this.#ended) listener();
    else this.#listeners.push(listener);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    return this;
  }

  async next(): Promise<Piece> {
    while (!this.#ended) {
      const piece = await this.#step();
      if (piece?.done) return this.#end();
      if (piece !== undefined) return piece;
    }
    return DONE;
  }

  return(): Promise<Piece> {
    this.#leave();
    return Promise.resolve(this.#end());
  }

  /** The next piece; undefined where a fault was struck or lifted meanwhile. */
  async #step(): Promise<Piece | undefined> {
    const fault = this.#fault;
    switch (fault?.kind) {
      case undefined:
        return this.#takeRest() ?? (await this.#read());
      case 'end':
        return this.#leave();
      case 'silence':
        return await this.#unlessWoken(new Promise(() => {}));
      case 'reset':
        if (this.#wire !== undefined) this.#options.reset(this.#wire);
        return this.#leave();
      case 'error-event':
        this.#fault = { kind: 'end' };
        return { done: false, value: line({ type: 'ERROR', object: failureOf(fault) }) };
      case 'half-frame':
        return await this.#half(fault.ending ?? 'reset');
      case 'cut':
        return await this.#cut();
      case 'slow-reader':
        return await this.#slowly(fault.bytesPerSecond);
    }
  }

  async #half(ending: 'reset' | 'end'): Promise<Piece | undefined> {
    const piece = this.#takeRest() ?? (await this.#read());
    if (piece === undefined || piece.done) return piece;
    const { value } = piece;
    const end = this.#options.isWatch ? value.indexOf(NEWLINE) : -1;
    const frame = end < 0 ? value : value.subarray(0, end);
    this.#fault = ending === 'reset' ? CUT : { kind: 'end' };
    return { done: false, value: frame.subarray(0, Math.ceil(frame.length / 2)) };
  }

  /** What has been sent is to arrive, which a reset would overtake. */
  async #cut(): Promise<never> {
    await new Promise<void>((resolve) => {
      if (this.#wire === undefined || this.#wire.closed) resolve();
      else this.#wire.once('close', resolve).write('', () => setImmediate(resolve));
    });
    throw new Error('the answer was cut off in the middle of a frame');
  }

  async #slowly(bytesPerSecond: number): Promise<Piece | undefined> {
    if (this.#rest === undefined) {
      const piece = await this.#read();
      if (piece === undefined || piece.done) return piece;
      this.#rest = piece.value;
    }
    const size = Math.min(this.#rest.length, Math.max(1, Math.round(bytesPerSecond / STEPS_A_SECOND)));
    const timer = Promise.withResolvers<true>();
    const timeout = setTimeout(() => timer.resolve(true), (size / bytesPerSecond) * 1000);
    const due = await this.#unlessWoken(timer.promise).finally(() => clearTimeout(timeout));
    if (due === undefined) return undefined;
    const value = this.#rest.subarray(0, size);
    this.#rest = size < this.#rest.length ? this.#rest.subarray(size) : undefined;
    return { done: false, value };
  }

  #takeRest(): Piece | undefined {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest && { done: false, value: rest };
  }

  async #read(): Promise<Piece | undefined> {
    this.#pending ??= this.#source.next() as Promise<Piece>;
    const piece = await this.#unlessWoken(this.#pending);
    if (piece !== undefined) this.#pending = undefined;
    return piece;
  }

  async #unlessWoken<T>(work: Promise<T>): Promise<T | undefined> {
    return await new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      work.then(resolve, reject);
    });
  }

  #leave(): Piece {
    this.#source.return?.().catch(() => {});
    return DONE;
  }

  #end(): Piece {
    if (this.#ended) return DONE;
    this.#ended = true;
    this.#wake();
    this.#options.onEnd();
    for (const listener of this.#listeners) listener();
    return DONE;
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

function line(event: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(event)}\n`);
}
