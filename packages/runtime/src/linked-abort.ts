/**
 * A controller that aborts with any of its parents, and lets go of them when disposed. `AbortSignal.any` leaves that to the
 * garbage collector, which is too late where a long-lived parent sees a child for every request.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #unlink: (() => void)[] = [];

  constructor(...parents: (AbortSignal | undefined)[]) {
    for (const parent of parents) {
      if (!parent) continue;
      if (parent.aborted) this.abort(parent.reason);
      const onAbort = (): void => this.abort(parent.reason);
      parent.addEventListener('abort', onAbort, { once: true });
      this.#unlink.push(() => parent.removeEventListener('abort', onAbort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const unlink of this.#unlink) unlink();
  }
}
