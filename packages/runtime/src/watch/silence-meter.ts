import type { Clock, Transport, TransportRequest } from '@asterism/client';

/** Tells for how long a server has left unanswered what it was asked: the head of an answer ends the silence. Watches do not count. */
export class SilenceMeter {
  readonly #clock: Clock;
  /** When each request that has no answer yet was sent; the oldest comes first. */
  readonly #asked = new Map<symbol, number>();
  #answered = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** 0 where nothing is asked. */
  get silentMs(): number {
    const [oldest] = this.#asked.values();
    return oldest === undefined ? 0 : this.#clock.monotonic() - Math.max(oldest, this.#answered);
  }

  listen(transport: Transport): Transport {
    return {
      ...(transport.server === undefined ? {} : { server: transport.server }),
      request: (request) => this.#time(request, transport.request(request)),
      upgrade: (request) => this.#time(request, transport.upgrade(request)),
      close: () => transport.close(),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    };
  }

  async #time<R>(request: TransportRequest, answer: Promise<R>): Promise<R> {
    if (request.long) return await answer;
    const question = Symbol();
    this.#asked.set(question, this.#clock.monotonic());
    try {
      const response = await answer;
      this.#answered = this.#clock.monotonic();
      return response;
    } finally {
      this.#asked.delete(question);
    }
  }
}
