import type { Headers, TransportRequest, TransportResponse } from '@asterism/client';
import { Reset } from '../frames/frame.ts';
import { FrameBody } from '../frames/frame-body.ts';
import type { FrameStream, FrameStreamListener } from '../frames/frame-stream.ts';
import { sendBody } from '../frames/send-body.ts';
import { TunnelError, type TunnelErrorReason } from '../tunnel-error.ts';
import { failureHeaders } from '../wire/failure-headers.ts';
import { forwardedHeaders, headerBytes, isBodiless, isLong } from '../wire/headers.ts';
import { formatResponseHead, parseRequestHead, type RequestHead } from '../wire/http-head.ts';
import { messageOf } from '../wire/message-of.ts';
import { askTarget } from './ask-target.ts';
import type { ServeContext } from './serve-context.ts';

export interface ServedFrames {
  /** The head of the request is read. @returns what is to be called when the call has ended. */
  onBegin(call: { breakOff(error: Error): void }, long: boolean): (code: number) => void;
}

/**
 * Answers one call with what the target answers. The request to the target is aborted as soon as the call ends before both its sides are
 * at their end; a body of the target that breaks off resets the call.
 */
export function serveFrames(stream: FrameStream, context: ServeContext, served: ServedFrames): void {
  stream.listener = new ServedFrameCall(stream, context, served);
}

/** reading the request's head → asking the target → answering → closed. */
class ServedFrameCall implements FrameStreamListener {
  readonly #stream: FrameStream;
  readonly #context: ServeContext;
  readonly #served: ServedFrames;
  readonly #abort = new AbortController();
  #onEnd: ((code: number) => void) | undefined;
  #head: RequestHead | undefined;
  /** Of the request's body, until the target is asked. */
  #pieces: Buffer[] = [];
  #asked = false;
  #hasBody = false;
  #body: FrameBody | undefined;
  #writable: (() => void) | undefined;

  constructor(stream: FrameStream, context: ServeContext, served: ServedFrames) {
    this.#stream = stream;
    this.#context = context;
    this.#served = served;
  }

  breakOff(_error: Error): void {
    this.#stream.reset(Reset.failed);
  }

  onHead(lines: string[], last: boolean): void {
    try {
      if (this.#head) throw new TunnelError('PROTOCOL', 'a request has two heads');
      this.#head = parseRequestHead(lines);
    } catch (error) {
      return this.breakOff(error as Error);
    }
    this.#hasBody = !last;
    this.#onEnd = this.#served.onBegin(this, isLong(this.#head.headers));
  }

  onData(piece: Buffer, last: boolean): void {
    if (this.#body) this.#body.receive(piece, last);
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  onPause(): void {
    if (this.#body) return this.#body.pass();
    if (this.#asked || !this.#head || this.#stream.closed) return;
    this.#asked = true;
    this.#serve(this.#head).catch((error: Error) => this.breakOff(error));
  }

  onWritable(): void {
    this.#writable?.();
  }

  /** The answer is complete: what the target did not want of the request's body need not come. */
  onEnded(): void {
    this.#stream.reset(Reset.none);
  }

  onClose(code: number): void {
    this.#onEnd?.(code);
    if (code !== Reset.none || !this.#stream.otherEnded) {
      this.#abort.abort(new TunnelError('LOST', 'the caller left'));
      this.#body?.destroy(new TunnelError('LOST', 'the request broke off before its end'));
    }
    this.#writable?.();
  }

  async #serve(head: RequestHead): Promise<void> {
    const request = this.#requestOf(head);
    const response = await askTarget(request, this.#context);
    if ('failed' in response) return this.#fail(...response.failed);
    this.#answer(request.method, response);
  }

  #requestOf({ method, path, headers }: RequestHead): TransportRequest {
    const body = this.#hasBody ? this.#bodyOf() : undefined;
    return {
      method,
      path,
      headers: forwardedHeaders(headers),
      ...(body === undefined ? {} : { body }),
      signal: this.#abort.signal,
      long: isLong(headers),
    };
  }

  /** The request's body: as a whole where all of it has come, as that of most writes does. */
  #bodyOf(): Uint8Array | FrameBody {
    const pieces = this.#pieces;
    this.#pieces = [];
    if (this.#stream.otherEnded) {
      const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      this.#stream.read(bytes.length);
      return bytes;
    }
    // What the target does not read of it does not keep its answer from the caller.
    const joined = this.#context.buffers;
    this.#body = new FrameBody(this.#stream, { onLeft: () => this.#stream.ignoreRest(), joined });
    for (const piece of pieces) this.#body.receive(piece, false);
    this.#body.pass();
    return this.#body;
  }

  #answer(method: string, response: TransportResponse): void {
    const { status, headers } = response;
    const stream = this.#stream;
    const head = stream.closed ? undefined : this.#headOf(status, headers);
    if (head === undefined) return void response.body.destroy();
    const bodiless = isBodiless(method, status);
    stream.head(head, bodiless);
    if (bodiless) response.body.resume();
    else this.#writable = sendBody(stream, response.bytes ?? response.body, (error) => this.breakOff(error));
  }

  /** The text to pass on; undefined where that cannot be, and the hub was told so. */
  #headOf(status: number, headers: Headers): string | undefined {
    const kept = forwardedHeaders(headers);
    const { maxHeaderBytes } = this.#context.limits;
    const size = headerBytes(kept);
    if (size > maxHeaderBytes) {
      this.#fail('LIMIT', `the headers of the target's answer take ${size} bytes, ${maxHeaderBytes} are the limit`);
      return undefined;
    }
    try {
      return formatResponseHead({ status, headers: kept });
    } catch (error) {
      this.#fail('TARGET', `the target's answer cannot be passed on: ${messageOf(error)}`);
      return undefined;
    }
  }

  #fail(reason: TunnelErrorReason, message: string): void {
    this.#stream.head(formatResponseHead({ status: 502, headers: failureHeaders(reason, message) }), true);
  }
}
