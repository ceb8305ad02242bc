/** How long things are read before everything else in the process gets a turn. */
const TURN_MS = 5;

/**
 * Lets those who have much to read share one event loop: however many they are, they take no more than 5 ms of each of its rounds,
 * and one thing longer. Yielding each for himself would give a round as many slices as there are readers. It is for initial lists:
 * what is new is read as it comes, so that a cluster that is engaged delays no news of the others.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #begin = 0;
  /** This round of the event loop has begun its turn. */
  #open = false;

  /** Undefined where there is time left to go on; else resolves when there is. */
  next(): Promise<void> | undefined {
    if (!this.#open) {
      this.#open = true;
      this.#begin = performance.now();
      setImmediate(() => this.#nextRound());
      return undefined;
    }
    if (performance.now() - this.#begin < TURN_MS) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Those who wait go on one after the other, for as long as the turn takes. */
  #nextRound(): void {
    this.#open = this.#waiting.length > 0;
    if (!this.#open) return;
    this.#begin = performance.now();
    setImmediate(() => this.#nextRound());
    this.#resume();
  }

  #resume(): void {
    if (performance.now() - this.#begin >= TURN_MS) return;
    const resume = this.#waiting.shift();
    if (!resume) return;
    resume();
    // The next one when this one waits for something again: a tick comes when no promise has anything left to do.
    queueMicrotask(() => process.nextTick(() => this.#resume()));
  }
}
