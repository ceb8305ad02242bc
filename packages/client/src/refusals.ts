/**
 * Connects the place that sees a 401 with the one that renews the credential: a transport reports, `keepRenewed` listens.
 *
 * @example
 * ```ts
 * const refusals = new Refusals();
 * const transport = createTransport(connection, { refusals });
 * await keepRenewed({ clock, validity, renew, failed, refusals }, signal);
 * ```
 */
export class Refusals {
  readonly #listeners = new Set<() => void>();
  #pending = false;

  /** A server answered 401 to the credential in use. */
  report(): void {
    this.#pending = true;
    for (const listener of this.#listeners) listener();
  }

  /** Whether a refusal was reported since the last {@link clear}. */
  get pending(): boolean {
    return this.#pending;
  }

  /** Another credential is in use: earlier refusals do not concern it. */
  clear(): void {
    this.#pending = false;
  }

  /** Calls back on each report. Returns a function that ends that. */
  onReport(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
