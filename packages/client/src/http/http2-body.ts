import { type ClientHttp2Stream, constants } from 'node:http2';
import { Readable } from 'node:stream';

/**
 * The body of an answer over HTTP/2. Node ends a stream that was reset with CANCEL, or whose connection broke, as if it were
 * complete; here that is an error, so that half an answer is never taken for a whole one. Nor can the stream itself be the body: Node's
 * readers take one whose last frame has come for broken off, though nobody has read it yet.
 */
export class Http2Body extends Readable {
  readonly #stream: ClientHttp2Stream;
  #onChunk: ((chunk: Buffer) => void) | undefined;

  /** `failure` says what became of a stream that did not end well. */
  constructor(stream: ClientHttp2Stream, failure: () => Error) {
    super();
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    let complete = false;
    stream.on('end', () => {
      complete = stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (!complete) return;
      this.push(null);
      if (this.#onChunk) super.resume();
    });
    stream.on('close', () => {
      if (!complete) this.destroy(failure());
    });
    stream.pause();
  }

  /**
   * Tells of each chunk as it comes, in place of `data`, which would hand it on twice. `pause` and `resume` have their say, and `end`,
   * `error` and `close` come as ever.
   */
  tell(onChunk: (chunk: Buffer) => void): void {
    this.#onChunk = onChunk;
    this.#stream.resume();
  }

  override pause(): this {
    if (!this.#onChunk) return super.pause();
    this.#stream.pause();
    return this;
  }

  override resume(): this {
    if (!this.#onChunk) return super.resume();
    this.#stream.resume();
    return this;
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.resume();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    if (this.#onChunk) this.#onChunk(chunk);
    else if (!this.push(chunk)) this.#stream.pause();
  }
}
