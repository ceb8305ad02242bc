import type { WatchItem, WatchStream } from '../registry/registry.ts';
import type { PushedBody } from './api-request.ts';
import type { Sink } from './pump-body.ts';

export interface WatchBodyOptions {
  line(item: WatchItem): Buffer;
  timeoutMs: number;
  /** Told how many events leave. */
  onEvents(count: number): void;
}

/**
 * The lines of a watch as they come; what is queued leaves in one piece. Ends when the stream does, after `timeoutMs`, or
 * when the reader leaves; then the stream is closed.
 */
export class WatchBody implements PushedBody, AsyncIterator<Uint8Array> {
  readonly #stream: WatchStream;
  readonly #options: WatchBodyOptions;
  readonly #timer: NodeJS.Timeout;
  #source: AsyncIterator<WatchItem> | undefined;
  #sink: Sink | undefined;
  /** A piece lies untaken, or one is about to be sent. */
  #busy = false;
  #stall: NodeJS.Timeout | undefined;
  #onEnd: (() => void) | undefined;
  #ended = false;

  constructor(stream: WatchStream, options: WatchBodyOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#timer = setTimeout(() => stream.close(), options.timeoutMs);
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
      const items = this.#stream.take();
      if (items.length === 0) {
        if (this.#stream.ended) this.#finish(sink);
        return;
      }
      if (this.#write(sink, items)) continue;
      this.#busy = true;
      this.#stall ??= setTimeout(() => sink.cut(), sink.stallMs);
      return;
    }
  }

  /** A line that cannot be made cuts the answer off, which is all that can still be said. */
  #write(sink: Sink, items: readonly WatchItem[]): boolean {
    try {
      const piece = this.#piece(items);
      sink.turns?.spend(piece.length);
      return sink.stream.write(piece);
    } catch {
      sink.cut();
      this.#end();
      return true;
    }
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
    clearTimeout(this.#timer);
    clearTimeout(this.#stall);
    this.#stream.close();
    this.#onEnd?.();
  }
}
