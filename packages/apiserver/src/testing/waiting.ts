/** Those who wait for something that changes to be so. */
export class Waiting {
  readonly #wake = new Set<() => void>();

  /** Resolves when `isSo` gives true, which is asked now and after every {@link tell}; rejects with what it throws. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake.add(resolve);
      await promise;
      this.#wake.delete(resolve);
    }
  }

  /** Something has changed. */
  tell(): void {
    for (const wake of this.#wake) wake();
  }
}
