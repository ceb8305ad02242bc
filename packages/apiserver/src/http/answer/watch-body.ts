import type { WatchItem, WatchStream } from '../../registry/registry.ts';
import type { PushedBody } from '../../contract/api-request.ts';
import type { Sink } from '../../contract/sink.ts';

export interface WatchBodyOptions {
  line(item: WatchItem): Buffer;
  timeoutMs: number;
  /** Told how many events leave. */
  onEvents(count: number): void;
}

/** A timer of Node's for longer than this, 24 days, would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** So much is put together at once (a line that is longer, by itself): what a reader leaves untaken is held for each watch. */
const PIECE_BYTES = 64 * 1024;

/**
 * The lines of a watch as they come; what is queued leaves in pieces of many lines. Ends when the stream does, after `timeoutMs`, or
 * when the reader leaves; then the stream is closed.
 */
export class WatchBody implements PushedBody, AsyncIterator<Uint8Array> {
  readonly #stream: WatchStream;
  readonly #options: WatchBodyOptions;
  readonly #timer: NodeJS.Timeout;
  #source: AsyncIterator<WatchItem> | undefined;
  #sink: Sink | undefined;
  /** Taken from the stream; those from `#next` on have not been sent. What has is let go: with it goes its line. */
  #items: (WatchItem | undefined)[] = [];
  #next = 0;
  /** A piece lies untaken, or one is about to be sent. */
  #busy = false;
  #stall: NodeJS.Timeout | undefined;
  #onEnd: (() => void) | undefined;
  #ended = false;

  constructor(stream: WatchStream, options: WatchBodyOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#timer = setTimeout(() => stream.close(), Math.min(options.timeoutMs, MAX_TIMER_MS));
  }

  onEnd(listener: () => void): void {
    if (this.#ended) listener();
    else this.#onEnd = listener;
  }

  pushTo(sink: Sink): void {
    this.#sink = sink;
    sink.stream.on('drain', () => this.#drained()).on('close', () => this.#end());
    this.#stream.onReady(() => this.#schedule());
    this.#push();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    this.#source ??= this.#stream[Symbol.asyncIterator]();
    try {
      const result = await this.#source.next();
      if (!result.done) return { done: false, value: this.#piece([result.value, ...this.#stream.take()]) };
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** What happens at once leaves at once: in one piece, when all of it has come. */
  #schedule(): void {
    if (this.#busy) return;
    this.#busy = true;
    queueMicrotask(() => this.#push());
  }

  #drained(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    this.#push();
  }

  #push(): void {
    this.#busy = false;
    const sink = this.#sink;
    while (sink !== undefined && !this.#ended) {
      if (sink.turns?.open === false) {
        this.#busy = true;
        sink.turns.wait(() => this.#push());
        return;
      }
      if (!this.#take()) {
        if (this.#stream.ended) this.#finish(sink);
        return;
      }
      if (this.#write(sink)) continue;
      this.#busy = true;
      this.#stall ??= setTimeout(() => sink.cut(), sink.stallMs);
      return;
    }
  }

  /** Whether something is there to be sent. */
  #take(): boolean {
    if (this.#next === this.#items.length) {
      this.#items = [...this.#stream.take()];
      this.#next = 0;
    }
    return this.#next < this.#items.length;
  }

  /** A line that cannot be made cuts the answer off, which is all that can still be said. */
  #write(sink: Sink): boolean {
    try {
      const piece = this.#nextPiece();
      sink.turns?.spend(piece.length);
      return sink.stream.write(piece);
    } catch {
      sink.cut();
      this.#end();
      return true;
    }
  }

  #nextPiece(): Buffer {
    const lines: Buffer[] = [];
    let size = 0;
    for (; this.#next < this.#items.length; this.#next++) {
      const line = this.#options.line(this.#items[this.#next]!);
      if (size > 0 && size + line.length > PIECE_BYTES) break;
      this.#items[this.#next] = undefined;
      lines.push(line);
      size += line.length;
    }
    this.#options.onEvents(lines.length);
    return lines.length === 1 ? lines[0]! : Buffer.concat(lines, size);
  }

  #finish({ stream }: Sink): void {
    this.#end();
    stream.end();
  }

  #piece(items: readonly WatchItem[]): Buffer {
    this.#options.onEvents(items.length);
    if (items.length === 1) return this.#options.line(items[0]!);
    return Buffer.concat(items.map((item) => this.#options.line(item)));
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#items = [];
    this.#next = 0;
    clearTimeout(this.#timer);
    clearTimeout(this.#stall);
    this.#stream.close();
    this.#onEnd?.();
  }
}
