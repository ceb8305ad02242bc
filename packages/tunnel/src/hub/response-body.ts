import type { ClientHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { breakOff } from '../wire/session.ts';
import type { StalledBodies, StalledBody } from './stalled-bodies.ts';

export interface ResponseBodyOptions {
  stalled: StalledBodies;
  /** Why the stream ended before its time. */
  failure: () => Error;
}

/**
 * The body of an answer, out of its stream. Ends only when the other end finished it; else it is destroyed with an error that
 * names the agent. Destroying it resets the stream. While its reader stops, the stream's window is all that comes.
 */
export class ResponseBody extends Readable implements StalledBody {
  readonly #stream: ClientHttp2Stream;
  readonly #stalled: StalledBodies;

  constructor(stream: ClientHttp2Stream, { stalled, failure }: ResponseBodyOptions) {
    super({ highWaterMark: 64 << 10 });
    this.#stream = stream;
    this.#stalled = stalled;
    // Whoever reads gets the error; a body that nobody reads must not end the process when its connection is lost.
    this.on('error', () => {});
    stream.on('data', (chunk: Buffer) => {
      if (this.push(chunk)) return;
      stream.pause();
      stalled.add(this);
    });
    // Node ends the stream also when it was reset while bytes were waiting.
    stream.on('end', () => (stream.rstCode === 0 ? this.push(null) : this.destroy(failure())));
    stream.on('close', () => {
      if (!stream.readableEnded) this.destroy(failure());
    });
    stream.pause();
    stalled.add(this); // Until somebody begins to read.
  }

  get backlog(): number {
    return this.readableLength + this.#stream.readableLength;
  }

  override _read(): void {
    this.#stalled.delete(this);
    this.#stream.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stalled.delete(this);
    breakOff(this.#stream, error ?? new Error('the reader left'));
    callback(error);
  }
}
