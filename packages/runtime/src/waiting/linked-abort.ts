/**
 * A controller that aborts with any of its parents, and lets go of them when disposed. `AbortSignal.any` leaves that to the
 * garbage collector, which is too late where a long-lived parent sees a child for every request.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: AbortSignal[] = [];

  constructor(...parents: (AbortSignal | undefined)[]) {
    for (const parent of parents) {
      if (!parent) continue;
      if (parent.aborted) this.abort(parent.reason);
      // An object that is called back, rather than a function for each of many.
      parent.addEventListener('abort', this, { once: true });
      this.#parents.push(parent);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  handleEvent({ target }: Event): void {
    this.abort((target as AbortSignal).reason);
  }

  [Symbol.dispose](): void {
    for (const parent of this.#parents) parent.removeEventListener('abort', this);
  }
}
