import { compareResourceVersions } from '@asterism/client';
import { type KubeObject, objectKey } from '@asterism/machinery';

/** What this process has written and its cache may not have seen yet, where the runtime does not wait for that by itself. */
export class OwnWrites<T extends KubeObject> {
  readonly #written = new Map<string, T>();
  readonly #keyOf: (object: T) => string;

  /** @param keyOf what tells objects apart; by default namespace and name, which is enough where all are of one kind */
  constructor(keyOf: (object: T) => string = objectKey) {
    this.#keyOf = keyOf;
  }

  remember(object: T): void {
    this.#written.set(this.#keyOf(object), object);
  }

  /** The newer of the two: what the cache has, or what was written. */
  latest(cached: T): T {
    const key = this.#keyOf(cached);
    const written = this.#written.get(key);
    if (!written) return cached;
    const versions = [written.metadata?.resourceVersion ?? '', cached.metadata?.resourceVersion ?? ''] as const;
    const behind = written.metadata?.uid === cached.metadata?.uid && (compareResourceVersions(...versions) ?? 0) > 0;
    if (behind) return written;
    this.#written.delete(key);
    return cached;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
