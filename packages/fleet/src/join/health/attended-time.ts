/**
 * The time during which this process could have heard a heartbeat, ms: it ran, and what it hears by answered. It stands still
 * while the process is stopped or frozen, and while the store behind the API server is away.
 *
 * T1  Only time between two proofs counts, and only if the second came soon after the first: what lies between two that are far
 *     apart was a freeze, a pause of the machine, or an outage, and nobody's silence.
 * T2  It is never ahead: until the next proof it stands where the last one left it.
 */
export class AttendedTime {
  readonly #mostBetweenMs: number;
  #attendedMs = 0;
  #heardAt: number | undefined;

  /** @param mostBetweenMs how far apart two proofs may be. */
  constructor(mostBetweenMs: number) {
    this.#mostBetweenMs = mostBetweenMs;
  }

  get ms(): number {
    return this.#attendedMs;
  }

  /** There is proof that what was sent until now was heard. `now` is of a clock that nobody sets, ms. */
  heard(now: number): void {
    const sinceMs = this.#heardAt === undefined ? 0 : now - this.#heardAt;
    if (sinceMs <= this.#mostBetweenMs) this.#attendedMs += sinceMs;
    this.#heardAt = now;
  }

  /** There is proof of the contrary. */
  deaf(): void {
    this.#heardAt = undefined;
  }
}
