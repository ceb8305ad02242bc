/** Lets work on the same key take turns, in the order of asking; work on different keys does not wait. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work);
    // Whoever comes next waits for the end, whatever it was.
    const end = turn.catch(() => {});
    this.#last.set(key, end);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === end) this.#last.delete(key);
    }
  }
}
