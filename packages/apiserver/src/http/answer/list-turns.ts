/** From so many items on, putting a list together is felt by whoever comes meanwhile: it takes a millisecond or more. */
const LARGE = 500;

/** Has at most one large list put together in each turn of the event loop, so that requests which come at the same time wait for one. */
export class ListTurns {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when a list may be put together: at once, where no large one was in this turn. */
  async enter(): Promise<void> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Tells how many items the list had. */
  done(items: number): void {
    if (this.#taken || items < LARGE) return;
    this.#taken = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    const next = this.#waiting.shift();
    this.#taken = next !== undefined;
    if (next === undefined) return;
    setImmediate(() => this.#next());
    next();
  }
}
