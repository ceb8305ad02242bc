import type { Terminal } from './terminal.ts';

/** Where a process reads from. Waiting and taking are two steps, so that a reader who is interrupted loses nothing. */
export interface Source {
  /** Resolves when there may be something to take; undefined where there is something, or the end. */
  ready(): Promise<void> | undefined;
  /** The next bytes, never empty; undefined at the end. */
  take(): Uint8Array | undefined;
  /** Puts bytes back, to be taken first. */
  unread(chunk: Uint8Array): void;
  /** Nobody will read on: the writer is told. */
  close(): void;
  readonly terminal?: Terminal | undefined;
}

/** Where a process writes to. */
export interface Sink {
  /** Resolves when there may be room; undefined where there is. */
  room(): Promise<void> | undefined;
  /** Takes all of it, room or not; throws {@link BrokenPipe} where nobody reads. The bytes are not changed later. */
  put(chunk: Uint8Array): void;
  end(): void;
  readonly terminal?: Terminal | undefined;
}

/** Nobody reads what was written: SIGPIPE. */
export class BrokenPipe extends Error {
  override readonly name = 'BrokenPipe';
}

/** An event that any number wait for, again and again. */
export class Notice {
  #waiting: PromiseWithResolvers<void> | undefined;

  wait(): Promise<void> {
    this.#waiting ??= Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  fire(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

const PIPE_CAPACITY = 64 * 1024;

/** A pipe of the usual capacity: 64 KiB. */
export class Pipe implements Source, Sink {
  readonly terminal: Terminal | undefined;
  readonly #chunks: Uint8Array[] = [];
  protected readonly notice = new Notice();
  #size = 0;
  #ended = false;
  #closed = false;

  constructor(terminal?: Terminal) {
    this.terminal = terminal;
  }

  ready(): Promise<void> | undefined {
    return this.#size > 0 || this.#ended || this.#closed ? undefined : this.notice.wait();
  }

  take(): Uint8Array | undefined {
    const chunk = this.#chunks.shift();
    if (!chunk) return undefined;
    this.#size -= chunk.length;
    this.notice.fire();
    return chunk;
  }

  unread(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#closed) return;
    this.#chunks.unshift(chunk);
    this.#size += chunk.length;
    this.notice.fire();
  }

  close(): void {
    this.#closed = true;
    this.#chunks.length = 0;
    this.#size = 0;
    this.notice.fire();
  }

  room(): Promise<void> | undefined {
    return this.#size < PIPE_CAPACITY || this.#closed ? undefined : this.notice.wait();
  }

  put(chunk: Uint8Array): void {
    if (this.#closed || this.#ended) throw new BrokenPipe('broken pipe');
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.notice.fire();
  }

  end(): void {
    this.#ended = true;
    this.notice.fire();
  }
}

/** A pipe in which those bytes are, and then its end. */
export function sourceOf(bytes: Uint8Array | string): Source {
  const pipe = new Pipe();
  pipe.put(Buffer.from(bytes));
  pipe.end();
  return pipe;
}

/** `/dev/null` to read from. */
export const emptySource: Source = {
  ready: () => undefined,
  take: () => undefined,
  unread: () => undefined,
  close: () => undefined,
};

/** `/dev/null` to write to. */
export const nullSink: Sink = { room: () => undefined, put: () => undefined, end: () => undefined };
