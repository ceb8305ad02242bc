import type { Duplex } from 'node:stream';
import { answerBytes, answerStatus } from '../http/answer/answer.ts';
import type { ApiRequest, ApiResponse } from '../contract/api-request.ts';
import type { RequestHandler } from '../http/wire/listener.ts';
import { leaveBody } from '../http/wire/pump-body.ts';
import { failureOf } from './failure-of.ts';
import type { RequestFault } from './fault.ts';
import type { FaultBoard } from './fault-board.ts';
import { InjectedFault } from './injected-fault.ts';
import type { SeenRequest } from './seen-request.ts';

/** Between the wire and the server: has the faults happen that the board has for a request. */
export class FaultyHandler implements RequestHandler {
  readonly #next: RequestHandler;
  readonly #board: FaultBoard;

  constructor(next: RequestHandler, board: FaultBoard) {
    this.#next = next;
    this.#board = board;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    const seen = this.#board.arrive(request);
    const injected = this.#board.take(seen);
    return injected === undefined
      ? this.#board.carry(await this.#next.handle(request), seen)
      : await this.#fail(request, seen, injected);
  }

  /** What takes over a connection is reached by the faults of connections alone. */
  async upgrade(request: ApiRequest, socket: Duplex, head: Buffer): Promise<void> {
    this.#board.arrive(request);
    await this.#next.upgrade(request, socket, head);
  }

  async #fail(request: ApiRequest, seen: SeenRequest, injected: InjectedFault<RequestFault>): Promise<ApiResponse> {
    const { fault, lifted } = injected;
    switch (fault.kind) {
      case 'status':
        return this.#board.carry(await answerStatus(failureOf(fault)), seen);
      case 'silence':
        await either(lifted, request.signal);
        return request.signal.aborted
          ? await answerStatus(failureOf({ code: 503 })) // Nobody is there to read it.
          : this.#board.carry(await this.#next.handle(request), seen);
      case 'reset':
        return this.#severed(seen);
      case 'lost-answer': {
        const { body } = await this.#next.handle(request);
        if (body !== undefined && !(body instanceof Uint8Array)) await leaveBody(body);
        return this.#severed(seen);
      }
      case 'error-event':
        if (seen.verb !== 'watch') return this.#board.carry(await answerStatus(failureOf(fault)), seen);
        return this.#board.carry(await this.#next.handle(request), seen, { fault, lifted });
      case 'half-frame':
        return this.#board.carry(withoutLength(await this.#next.handle(request)), seen, { fault, lifted });
      case 'end':
      case 'slow-reader':
        return this.#board.carry(await this.#next.handle(request), seen, { fault, lifted });
    }
  }

  /** The connection is reset before any of this leaves. */
  #severed(seen: SeenRequest): ApiResponse {
    const reset = new InjectedFault({ kind: 'reset' } as const);
    const answer = this.#board.carry(answerBytes(200, new Uint8Array()), seen, reset);
    seen.status = undefined;
    return answer;
  }
}

/** A part of the body is to be taken for no more and no less than it is. */
function withoutLength(response: ApiResponse): ApiResponse {
  const headers = { ...response.headers };
  delete headers['content-length'];
  return { ...response, headers };
}

async function either(one: AbortSignal, other: AbortSignal): Promise<void> {
  if (one.aborted || other.aborted) return;
  await new Promise<void>((resolve) => {
    for (const signal of [one, other]) signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
