import type { Readable } from 'node:stream';
import type { TransportRequest } from '@asterism/client';
import { Reset } from '../frames/frame.ts';
import { FrameBody } from '../frames/frame-body.ts';
import type { FrameSession } from '../frames/frame-session.ts';
import type { FrameStream, FrameStreamListener } from '../frames/frame-stream.ts';
import { sendBody, wholeBody } from '../frames/send-body.ts';
import { TunnelError } from '../tunnel-error.ts';
import { readFailure } from '../wire/failure-headers.ts';
import { forwardedHeaders } from '../wire/headers.ts';
import { formatRequestHead, parseResponseHead, type ResponseHead } from '../wire/http-head.ts';
import { messageOf } from '../wire/message-of.ts';
import {
  type Delivery,
  failureOf,
  requestHeaders,
  resetCause,
  type RunningRequest,
  type SendContext,
} from './delivery.ts';

/**
 * As `sendRequest`, over frames. An answer that came as a whole, as small ones do, has its `bytes`.
 *
 * @throws TunnelError for a request that cannot be sent at all.
 */
export function sendFrames(session: FrameSession, request: TransportRequest, context: SendContext): Promise<Delivery> {
  const { method, path, body } = request;
  const head = formatRequestHead({ method, path, headers: requestHeaders(request, context) });
  let stream: FrameStream;
  try {
    stream = session.open();
  } catch (cause) {
    throw new TunnelError('PROTOCOL', `tunnel to "${context.name}": the request cannot be sent: ${messageOf(cause)}`, {
      cause,
    });
  }
  return new Promise((resolve) => {
    const call = new FramedCall(stream, request, context, resolve);
    stream.listener = call;
    stream.head(head, body === undefined);
    if (body !== undefined) call.sendBody(body);
  });
}

/** waiting for the head → answered, when it is told → closed; or given up. */
class FramedCall implements FrameStreamListener, RunningRequest {
  readonly long: boolean;
  readonly #stream: FrameStream;
  readonly #signal: AbortSignal | undefined;
  readonly #context: SendContext;
  readonly #resolve: (delivery: Delivery) => void;
  readonly #onAbort = (): void => this.fail(this.#signal?.reason as Error);
  #writable: (() => void) | undefined;
  #head: ResponseHead | undefined;
  /** Of the body, until the answer is told. */
  #pieces: Buffer[] = [];
  /** All of the answer came. */
  #complete = false;
  #body: FrameBody | undefined;
  #told = false;
  #error: Error | undefined;

  constructor(
    stream: FrameStream,
    { long = false, signal }: TransportRequest,
    context: SendContext,
    resolve: (delivery: Delivery) => void,
  ) {
    this.long = long;
    this.#stream = stream;
    this.#signal = signal;
    this.#context = context;
    this.#resolve = resolve;
    for (const set of context.running) set.add(this);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  sendBody(body: NonNullable<TransportRequest['body']>): void {
    this.#writable = sendBody(this.#stream, body, (error) => this.fail(error));
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#body?.destroy(error);
    this.#stream.reset(Reset.cancelled);
    this.#tell({ failed: error, unprocessed: false });
  }

  onHead(lines: string[], last: boolean): void {
    if (this.#head) return this.#refuse('its answer has two heads');
    try {
      this.#head = parseResponseHead(lines);
    } catch (error) {
      return this.fail(error as Error);
    }
    if (this.#head.status < 200) return this.#refuse(`an answer of status ${this.#head.status}`);
    const failed = readFailure(this.#head.headers, `tunnel to "${this.#context.name}"`);
    if (failed) return this.fail(failed);
    this.#complete = last;
  }

  onData(piece: Buffer, last: boolean): void {
    if (!this.#head) return this.#refuse('its answer has no head');
    this.#complete = last;
    if (this.#body) this.#body.receive(piece, last);
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  onPause(): void {
    if (this.#body) return this.#body.pass();
    if (!this.#head || this.#told) return;
    const { status, headers } = this.#head;
    const answer = { status, headers: forwardedHeaders(headers) };
    const pieces = this.#pieces;
    this.#pieces = [];
    if (this.#complete) {
      const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      this.#stream.read(bytes.length);
      let body: Readable | undefined;
      const response = {
        ...answer,
        bytes,
        get body() {
          return (body ??= wholeBody(bytes));
        },
      };
      return this.#tell({ response });
    }
    const body = new FrameBody(this.#stream, {
      onLeft: () => this.#stream.reset(Reset.cancelled),
      stalled: this.#context.stalled,
    });
    this.#body = body;
    for (const piece of pieces) body.receive(piece, false);
    body.pass();
    this.#tell({ response: { ...answer, body } });
  }

  onWritable(): void {
    this.#writable?.();
  }

  onEnded(): void {}

  onClose(code: number): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const set of this.#context.running) set.delete(this);
    this.#writable?.();
    if (code !== Reset.none) this.#context.onReset(resetCause(code));
    if (this.#complete) return;
    const failed = this.#error ?? failureOf(code, this.#context);
    this.#body?.pass();
    this.#body?.destroy(failed);
    this.#tell({ failed, unprocessed: code === Reset.refused });
  }

  #refuse(what: string): void {
    this.fail(new TunnelError('PROTOCOL', `tunnel to "${this.#context.name}": the agent breaks the protocol: ${what}`));
  }

  #tell(delivery: Delivery): void {
    if (this.#told) return;
    this.#told = true;
    this.#resolve(delivery);
  }
}
