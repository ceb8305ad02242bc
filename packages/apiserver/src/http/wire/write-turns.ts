/** After so many bytes the streams of a connection pause until the next turn of the event loop. */
const TURN_BYTES = 128 * 1024;

/**
 * Has the many streams of one connection write a little at a time. HTTP/2 hands TLS all that they wrote in one turn in one piece, and
 * TLS keeps a buffer of the largest that it was ever given for as long as the connection lasts: a hundred watches that begin together,
 * each with an object of 5 KB, would keep 500 KB.
 */
export class WriteTurns {
  #left = TURN_BYTES;
  #waiting: (() => void)[] = [];

  /** Whether more may be written in this turn. Whoever may not is to {@link wait}. */
  get open(): boolean {
    return this.#left > 0;
  }

  /** Tells of bytes that were written. */
  spend(bytes: number): void {
    if (!this.open) return;
    this.#left -= bytes;
    if (!this.open) setImmediate(() => this.#next());
  }

  /** Calls `act` once, in the next turn that has room, in the order of asking. */
  wait(act: () => void): void {
    this.#waiting.push(act);
  }

  #next(): void {
    this.#left = TURN_BYTES;
    const waiting = this.#waiting;
    this.#waiting = [];
    let called = 0;
    while (called < waiting.length && this.open) waiting[called++]!();
    if (called < waiting.length) this.#waiting = [...waiting.slice(called), ...this.#waiting];
  }
}
