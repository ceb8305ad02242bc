import { failure } from '@asterism/machinery';

/** How many requests are served at once. Those that are long by nature (watches, proxied connections) do not count. */
export class InFlightLimit {
  readonly #limit: number;
  #current = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a place, to be given back by the answer's caller. Throws 429 with `Retry-After: 1` where none is left. */
  enter(): () => void {
    if (this.#current >= this.#limit) {
      throw failure(429, 'Too many requests, please try again later.', { details: { retryAfterSeconds: 1 } });
    }
    this.#current++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#current--;
    };
  }
}
