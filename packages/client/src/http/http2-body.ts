import { type ClientHttp2Stream, constants } from 'node:http2';
import { Readable } from 'node:stream';

/**
 * The body of an answer over HTTP/2. Node ends a stream that was reset with CANCEL, or whose connection broke, as if it were
 * complete; here that is an error, so that half an answer is never taken for a whole one.
 */
export class Http2Body extends Readable {
  readonly #stream: ClientHttp2Stream;

  /** `failure` says what became of a stream that did not end well. */
  constructor(stream: ClientHttp2Stream, failure: () => Error) {
    super();
    this.#stream = stream;
    stream.on('data', (chunk) => {
      if (!this.push(chunk)) stream.pause();
    });
    let complete = false;
    stream.on('end', () => {
      complete = stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (complete) this.push(null);
    });
    stream.on('close', () => {
      if (!complete) this.destroy(failure());
    });
    stream.pause();
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#stream.resume();
    done(error);
  }
}
