import type { Readable } from 'node:stream';
import { bodyError } from './read-body.ts';

const LINE_END = 10;
const NOTHING = Buffer.alloc(0);

/** Told of a line; with a promise, nothing more is read until that is settled. */
export type OnLine = (line: Buffer) => void | Promise<void>;

/**
 * Tells of the lines of a body, without their ends: of all that a chunk completes within one turn. An empty line is left out; what
 * stands behind the last line end is the last line. Resolves at the end of the body; where `onLine` fails, ends the request and
 * rejects with that.
 */
export function eachLine(body: Readable, server: string, onLine: OnLine, signal?: AbortSignal): Promise<void> {
  const splitter = new LineSplitter(body, onLine);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error);
      body.destroy();
    };
    const onBreak = (error?: unknown): void => fail(bodyError(error, server, signal));
    body.on('data', (chunk: Buffer) => splitter.take(chunk, fail));
    body.on('end', () => void splitter.end().then(resolve, fail));
    body.on('error', onBreak);
    body.on('close', () => body.readableEnded || onBreak());
    if (body.destroyed) onBreak(body.errored);
  });
}

class LineSplitter {
  readonly #body: Readable;
  readonly #onLine: OnLine;
  /** Of the line that is not complete yet. */
  #pieces: Buffer[] | undefined;

  constructor(body: Readable, onLine: OnLine) {
    this.#body = body;
    this.#onLine = onLine;
  }

  take(chunk: Buffer, fail: (error: unknown) => void, from = 0): void {
    try {
      const told = this.#tellFrom(chunk, from);
      if (!told) return;
      this.#body.pause();
      told.lines.then(() => {
        this.#body.resume();
        this.take(chunk, fail, told.next);
      }, fail);
    } catch (error) {
      fail(error);
    }
  }

  async end(): Promise<void> {
    await this.#tell(NOTHING);
  }

  /** With a line that has to be waited for, where the next one begins. */
  #tellFrom(chunk: Buffer, from: number): { lines: Promise<void>; next: number } | undefined {
    let start = from;
    // Who was told of a line may have ended the request.
    for (
      let end = chunk.indexOf(LINE_END, start);
      end >= 0 && !this.#body.destroyed;
      end = chunk.indexOf(LINE_END, start)
    ) {
      const lines = this.#tell(chunk.subarray(start, end));
      start = end + 1;
      if (lines) return { lines, next: start };
    }
    if (start < chunk.length) (this.#pieces ??= []).push(chunk.subarray(start));
    return undefined;
  }

  #tell(last: Buffer): void | Promise<void> {
    const line = this.#pieces ? Buffer.concat([...this.#pieces, last]) : last;
    this.#pieces = undefined;
    return line.length > 0 ? this.#onLine(line) : undefined;
  }
}
