import type { WatchItem, WatchStream } from './registry.ts';

/**
 * The events that one watcher has not taken yet.
 *
 * W1. At most `limit` live events wait, and at most 16 MiB of them. One more, and the stream ends behind those: nothing is skipped
 *     in the middle.
 * W2. What a watch begins with (`backlog`) is made when it is taken, not kept, and does not count.
 * W3. After `close` or the signal nothing more comes, and what holds the watcher is told once.
 */
export class WatchQueue implements WatchStream {
  readonly #limit: number;
  readonly #onClose: () => void;
  #backlog: Iterator<WatchItem> | undefined;
  #items: WatchItem[] = [];
  #next = 0;
  /** Of the objects in `#items`. */
  #bytes = 0;
  #waiting: PromiseWithResolvers<void> | undefined;
  #listener: (() => void) | undefined;
  #ended = false;

  constructor(options: { limit: number; backlog?: Iterable<WatchItem>; onClose: () => void }) {
    this.#limit = options.limit;
    this.#backlog = options.backlog?.[Symbol.iterator]();
    this.#onClose = options.onClose;
  }

  push(item: WatchItem): void {
    if (this.#ended) return;
    if (this.#items.length - this.#next >= this.#limit || this.#bytes >= MOST_BYTES) {
      this.end();
      return;
    }
    this.#items.push(item);
    this.#bytes += item.object.bytes.length;
    this.#wake();
  }

  /** No more events come; those that wait can still be taken. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wake();
    this.#onClose();
  }

  close(): void {
    this.#backlog = undefined;
    this.#forget();
    this.end();
  }

  get ended(): boolean {
    return this.#ended;
  }

  onReady(listener: () => void): void {
    this.#listener = listener;
  }

  take(): readonly WatchItem[] {
    if (this.#backlog !== undefined) {
      const backlog = this.#takeBacklog();
      if (backlog.length > 0) return backlog;
    }
    if (this.#next === this.#items.length) return NOTHING;
    const items = this.#next === 0 ? this.#items : this.#items.slice(this.#next);
    this.#forget();
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchItem, void> {
    try {
      for (;;) {
        const item = this.#shift();
        if (item) yield item;
        else if (this.#ended) return;
        else {
          this.#waiting ??= Promise.withResolvers();
          await this.#waiting.promise;
        }
      }
    } finally {
      this.close();
    }
  }

  #shift(): WatchItem | undefined {
    const first = this.#backlog?.next();
    if (first && !first.done) return first.value;
    this.#backlog = undefined;
    const item = this.#items[this.#next];
    if (!item) return undefined;
    this.#next++;
    this.#bytes -= item.object.bytes.length;
    if (this.#next === this.#items.length) this.#forget();
    return item;
  }

  #forget(): void {
    this.#items = [];
    this.#next = 0;
    this.#bytes = 0;
  }

  #takeBacklog(): WatchItem[] {
    const items: WatchItem[] = [];
    while (this.#backlog && items.length < BACKLOG_BATCH) {
      const next = this.#backlog.next();
      if (next.done) this.#backlog = undefined;
      else items.push(next.value);
    }
    return items;
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
    this.#listener?.();
  }
}

const NOTHING: readonly WatchItem[] = [];
const BACKLOG_BATCH = 256;
/** So that a few watchers who do not read cannot take the server's memory. */
const MOST_BYTES = 16 * 1024 * 1024;
