import { LIST_LIMITS, type ListLimits, refuseReading } from '@asterism/client';

/**
 * The size of the objects that an informer holds. Lists have a limit; a watch that adds objects forever reaches the same one.
 *
 * H1 An object that would exceed `maxObjects` or `maxBytes` is refused before it is stored. Smaller copies and deletions are never refused.
 * H2 Objects count as they came, before fields are left out and equal parts are shared. They take no more memory than that.
 */
export class HeldSize {
  readonly #source: string;
  #limits = LIST_LIMITS;
  #sizes = new Map<string, number>();
  #bytes = 0;

  /** `source`: the kind, for messages. */
  constructor(source: string) {
    this.#source = source;
  }

  /** Counts an object, or its next copy. Throws a `ReadLimitError` where it does not fit; it is not counted then. */
  set(key: string, bytes: number): void {
    const { maxObjects, maxBytes } = this.#limits;
    const before = this.#sizes.get(key);
    const grown = bytes - (before ?? 0);
    if (before === undefined && this.#sizes.size >= maxObjects) this.#refuse(`more than ${maxObjects} objects`);
    if (grown > 0 && this.#bytes + grown > maxBytes) this.#refuse(`more than ${maxBytes} bytes of objects`);
    this.#sizes.set(key, bytes);
    this.#bytes += grown;
  }

  delete(key: string): void {
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
  }

  /** Counts the objects of a list instead. The list was measured while it arrived. `limits`: of the client that read it. */
  replace(sizes: Map<string, number>, limits: ListLimits = LIST_LIMITS): void {
    this.#sizes = sizes;
    this.#limits = limits;
    this.#bytes = 0;
    for (const bytes of sizes.values()) this.#bytes += bytes;
  }

  #refuse(excess: string): never {
    throw refuseReading({ limit: 'held', source: this.#source, use: 'watch', excess });
  }
}
