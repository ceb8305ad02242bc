/** The PINGs of a connection that wait for their answers, and how long the line is by those that came. */
export class FramePings {
  /** The shortest that was seen, ms. */
  roundTripMs = Number.POSITIVE_INFINITY;
  readonly #waiting = new Map<number, (error: Error | null) => void>();
  #count = 0;

  /** @returns the number to send it with */
  begin(onAnswer: (error: Error | null) => void): number {
    const sentAt = performance.now();
    const number = ++this.#count;
    this.#waiting.set(number, (error) => {
      if (!error) this.roundTripMs = Math.min(this.roundTripMs, performance.now() - sentAt);
      onAnswer(error);
    });
    return number;
  }

  answered(number: number): void {
    const onAnswer = this.#waiting.get(number);
    this.#waiting.delete(number);
    onAnswer?.(null);
  }

  /** All that wait: nothing comes any more. */
  fail(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const onAnswer of waiting) onAnswer(error);
  }
}
