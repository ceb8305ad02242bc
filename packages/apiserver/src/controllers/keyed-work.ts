export interface KeyedWorkOptions {
  /** Brings what `key` names to where it should be, from whatever is stored now. A rejection is tried again later. */
  work(key: string): Promise<void>;
  onError(key: string, error: unknown): void;
  /** Ends the work; what is being done is finished. */
  signal: AbortSignal;
  /** The first delay after a failure, doubled with each further one up to 30 s. Default 100 ms. */
  retryMilliseconds?: number;
}

const MAX_RETRY_MS = 30_000;

/**
 * Work to do, one key at a time, in the order in which keys were added.
 *
 * K1. A key that is added while it waits is done once; added while it is done, it is done again.
 * K2. A key whose work fails waits by itself, and does not hold the others.
 */
export class KeyedWork {
  readonly #options: KeyedWorkOptions;
  readonly #keys = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #running: Promise<void> | undefined;

  constructor(options: KeyedWorkOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  add(key: string): void {
    if (this.#options.signal.aborted) return;
    this.#keys.add(key);
    this.#running ??= this.#run();
  }

  /** Does it again after a while, unless it is added earlier. */
  addAfter(key: string, milliseconds: number): void {
    if (this.#options.signal.aborted || this.#timers.has(key)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      this.add(key);
    }, milliseconds);
    timer.unref();
    this.#timers.set(key, timer);
  }

  /** Resolves when nothing is left to do but what waits for its time. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Not within the commit that added the key: the work begins with what that commit left.
    await Promise.resolve();
    for (const key of this.#keys) {
      if (this.#options.signal.aborted) break;
      this.#keys.delete(key);
      await this.#attempt(key);
    }
    this.#running = undefined;
  }

  async #attempt(key: string): Promise<void> {
    try {
      await this.#options.work(key);
      this.#failures.delete(key);
    } catch (error) {
      if (this.#options.signal.aborted) return;
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#options.onError(key, error);
      this.addAfter(key, Math.min((this.#options.retryMilliseconds ?? 100) * 2 ** failures, MAX_RETRY_MS));
    }
  }

  #stop(): void {
    this.#keys.clear();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
