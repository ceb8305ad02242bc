import { ExpiringCache } from './expiring-cache.ts';

/** As upstream's authorizer: thousands of users with a handful of questions each. */
const MAX_ANSWERS = 8_192;
/** A key that a caller made so long is answered and not kept: it would be a way to fill the memory. */
const MAX_KEY_LENGTH = 10_000;

/**
 * Answers of a server that is asked the same over and over: kept for the time that `ttlMs` gives each, and asked for once
 * however many wait for it. A failure is not kept.
 */
export class RememberedAnswers<V> {
  readonly #cache: ExpiringCache<V>;
  readonly #asking = new Map<string, Promise<V>>();
  readonly #ttlMs: (value: V) => number;

  constructor(options: { monotonic: () => number; ttlMs: (value: V) => number }) {
    this.#cache = new ExpiringCache(MAX_ANSWERS, options.monotonic);
    this.#ttlMs = options.ttlMs;
  }

  async get(key: string, ask: () => Promise<V>): Promise<V> {
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return await asking;
    const answer = ask();
    this.#asking.set(key, answer);
    try {
      const value = await answer;
      if (key.length <= MAX_KEY_LENGTH) this.#cache.set(key, value, this.#ttlMs(value));
      return value;
    } finally {
      this.#asking.delete(key);
    }
  }
}
