/** How long one may wait for what it needs: who waits longer holds little meanwhile. */
const PATIENCE_MS = 500;

/** A right to use memory. Given back when it is disposed of. */
export interface Seat extends Disposable {
  /** What was waited for is there: it is one's own now, for however long that takes. */
  keep(): void;
}

/**
 * So many at a time of what needs memory for as long as it lasts.
 *
 * One that still waits after half a second goes on, and lets the next one begin, so that nobody who is slow holds up the others.
 */
export class Seats {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<Seat> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isTaken = true;
    const leave = (): void => {
      clearTimeout(timer);
      if (isTaken) this.#leave();
      isTaken = false;
    };
    const timer = setTimeout(leave, PATIENCE_MS);
    timer.unref();
    return { keep: () => clearTimeout(timer), [Symbol.dispose]: leave };
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
