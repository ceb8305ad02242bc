import type { Readable } from 'node:stream';
import { Http2Body } from './http/http2-body.ts';
import { LineSplitter, type LineSplitterOptions } from './line-splitter.ts';
import { bodyError } from './read-body.ts';

export interface EachLineOptions extends LineSplitterOptions {
  /** For messages. */
  server: string;
  signal?: AbortSignal | undefined;
}

/** Told of a line; with a promise, nothing more is read until that is settled. */
export type OnLine = (line: Buffer) => void | Promise<void>;

/**
 * Tells of the lines of a body, as {@link LineSplitter} has them: of all that a chunk completes within one turn. Resolves at the end
 * of the body; where `onLine` fails, ends the request and rejects with that.
 */
export function eachLine(
  body: Readable,
  { server, signal, ...reading }: EachLineOptions,
  onLine: OnLine,
): Promise<void> {
  const teller = new LineTeller(body, onLine, new LineSplitter(server, reading));
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      teller.leave();
      reject(error);
      body.destroy();
    };
    const onBreak = (error?: unknown): void => fail(bodyError(error, server, signal));
    const onChunk = (chunk: Buffer): void => teller.take(chunk, fail);
    if (body instanceof Http2Body) body.tell(onChunk);
    else body.on('data', onChunk);
    body.on('end', () => void teller.end().then(resolve, fail));
    body.on('error', onBreak);
    body.on('close', () => body.readableEnded || onBreak());
    if (body.destroyed) onBreak(body.errored);
  });
}

class LineTeller {
  readonly #body: Readable;
  readonly #onLine: OnLine;
  readonly #splitter: LineSplitter;
  /** Of the lines of a chunk that has come, one of which has to be waited for. */
  #waiting: Promise<void> | undefined;

  constructor(body: Readable, onLine: OnLine, splitter: LineSplitter) {
    this.#body = body;
    this.#onLine = onLine;
    this.#splitter = splitter;
  }

  /** Nothing more is read. */
  leave(): void {
    this.#splitter[Symbol.dispose]();
  }

  take(chunk: Buffer, fail: (error: unknown) => void): void {
    this.#splitter.add(chunk);
    try {
      const line = this.#tell();
      if (!line) return;
      this.#body.pause();
      this.#waiting = this.#tellRest(line);
      this.#waiting.then(() => this.#body.resume(), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** A body may end while lines of its last chunk wait, though it is paused. */
  async end(): Promise<void> {
    await this.#waiting;
    const line = this.#splitter.last();
    if (line) await this.#onLine(line);
  }

  async #tellRest(told: Promise<void>): Promise<void> {
    for (let line: Promise<void> | undefined = told; line; line = this.#tell()) await line;
  }

  /** Up to a line that has to be waited for. */
  #tell(): Promise<void> | undefined {
    while (!this.#isLeft()) {
      const line = this.#splitter.next();
      if (!line) return undefined;
      const told = this.#onLine(line);
      if (told) return told;
    }
    return undefined;
  }

  /** Who was told of a line may have ended the request; what ended by itself is told to its end. */
  #isLeft(): boolean {
    return this.#body.destroyed && !this.#body.readableEnded;
  }
}
