import { compareResourceVersions } from '@asterism/client';
import { type KubeObject, objectKey } from '@asterism/machinery';

/** A cache is behind by moments. What is older for longer is what there is: the API server was restored from a backup. */
const BEHIND_MS = 10_000;

/** What this process has written and its cache may not have seen yet, where the runtime does not wait for that by itself. */
export class OwnWrites<T extends KubeObject> {
  readonly #written = new Map<string, { object: T; at: number }>();
  readonly #keyOf: (object: T) => string;
  readonly #monotonic: () => number;

  /**
   * @param keyOf what tells objects apart; by default namespace and name, which is enough where all are of one kind
   * @param monotonic milliseconds that nobody sets
   */
  constructor(keyOf: (object: T) => string = objectKey, monotonic: () => number = () => performance.now()) {
    this.#keyOf = keyOf;
    this.#monotonic = monotonic;
  }

  remember(object: T): void {
    this.#written.set(this.#keyOf(object), { object, at: this.#monotonic() });
  }

  /** The newer of the two: what the cache has, or what was written. */
  latest(cached: T): T {
    const key = this.#keyOf(cached);
    const written = this.#written.get(key);
    if (!written) return cached;
    const { object, at } = written;
    const versions = [object.metadata?.resourceVersion ?? '', cached.metadata?.resourceVersion ?? ''] as const;
    const behind =
      object.metadata?.uid === cached.metadata?.uid &&
      (compareResourceVersions(...versions) ?? 0) > 0 &&
      this.#monotonic() - at < BEHIND_MS;
    if (behind) return object;
    this.#written.delete(key);
    return cached;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
