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

/** Of a line that has to be waited for, and where the next one begins. */
interface Told {
  line: Promise<void>;
  next: number;
}

class LineSplitter {
  readonly #body: Readable;
  readonly #onLine: OnLine;
  /** Of the line that is not complete yet. */
  #pieces: Buffer[] | undefined;
  /** Of the lines of a chunk that has come, one of which has to be waited for. */
  #waiting: Promise<void> | undefined;

  constructor(body: Readable, onLine: OnLine) {
    this.#body = body;
    this.#onLine = onLine;
  }

  take(chunk: Buffer, fail: (error: unknown) => void): void {
    try {
      const told = this.#tellFrom(chunk, 0);
      if (!told) return;
      this.#body.pause();
      this.#waiting = this.#tellRest(chunk, told);
      this.#waiting.then(() => this.#body.resume(), fail);
    } catch (error) {
      fail(error);
    }
  }

  /** A body may end while lines of its last chunk wait, though it is paused. */
  async end(): Promise<void> {
    await this.#waiting;
    await this.#tell(NOTHING);
  }

  async #tellRest(chunk: Buffer, told: Told): Promise<void> {
    for (let last: Told | undefined = told; last; last = this.#tellFrom(chunk, last.next)) await last.line;
  }

  #tellFrom(chunk: Buffer, from: number): Told | undefined {
    let start = from;
    for (let end = chunk.indexOf(LINE_END, start); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      if (this.#isLeft()) return undefined;
      const line = this.#tell(chunk.subarray(start, end));
      start = end + 1;
      if (line) return { line, next: start };
    }
    if (start < chunk.length) (this.#pieces ??= []).push(chunk.subarray(start));
    return undefined;
  }

  /** Who was told of a line may have ended the request; what ended by itself is told to its end. */
  #isLeft(): boolean {
    return this.#body.destroyed && !this.#body.readableEnded;
  }

  #tell(last: Buffer): void | Promise<void> {
    const line = this.#pieces ? Buffer.concat([...this.#pieces, last]) : last;
    this.#pieces = undefined;
    return line.length > 0 ? this.#onLine(line) : undefined;
  }
}
