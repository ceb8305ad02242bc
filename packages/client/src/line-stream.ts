import type { Readable } from 'node:stream';
import { eachLine } from './each-line.ts';
import { readLines } from './read-body.ts';
import type { LineSplitterOptions } from './line-splitter.ts';
import type { EventStream } from './resource-client.ts';

export interface LineStreamOptions<E> extends LineSplitterOptions {
  /** Sends the request. */
  open: () => Promise<Readable>;
  /** What a line says. What it throws ends the stream. */
  read: (line: Buffer) => E;
  /** With a promise, a line is read when that is settled. */
  turn?: (() => Promise<void> | undefined) | undefined;
  /** For messages. */
  server: string;
  signal?: AbortSignal | undefined;
}

/** The lines of an answer. Each way to read it sends a request of its own. */
export class LineStream<E> implements EventStream<E> {
  readonly #options: LineStreamOptions<E>;

  constructor(options: LineStreamOptions<E>) {
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E> {
    const { open, read, turn, server, signal, limits, budget } = this.#options;
    for await (const line of readLines(await open(), server, { signal, limits, budget })) {
      const wait = turn?.();
      if (wait) await wait;
      yield read(line);
    }
  }

  forEach(onEvent: (event: E, bytes: number) => void | Promise<void>): Promise<void> {
    const { open, read, turn, ...reading } = this.#options;
    const onLine = (line: Buffer): void | Promise<void> => {
      const wait = turn?.();
      const { length } = line;
      return wait ? wait.then(() => onEvent(read(line), length)) : onEvent(read(line), length);
    };
    return open().then((body) => eachLine(body, reading, onLine));
  }
}
