interface Entry<V> {
  value: V;
  until: number;
}

/** Values that count for a while. Holds at most `limit`; the one that was put in first makes room for another. */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #limit: number;
  readonly #monotonic: () => number;

  /** `monotonic` in ms. */
  constructor(limit: number, monotonic: () => number) {
    this.#limit = limit;
    this.#monotonic = monotonic;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#monotonic() < entry.until) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#monotonic() + ttlMs });
    if (this.#entries.size <= this.#limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
