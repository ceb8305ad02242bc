/** How much of the past is kept: what is beyond any of these is forgotten. */
export interface HistoryBounds {
  milliseconds: number;
  changes: number;
  /** Of the objects as they were before their changes. */
  bytes: number;
}

/**
 * Five minutes, which is what upstream leaves between two compactions of etcd. The other two bound memory, the log on the disk
 * and the time that a start takes, where much is written.
 */
export const DEFAULT_HISTORY: HistoryBounds = { milliseconds: 5 * 60_000, changes: 10_000, bytes: 32 * 1024 * 1024 };

/** A change, as far as {@link HistoryWindow} looks at it. */
export interface HistoryEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly bytes: number;
}

/** The last changes, in order. */
export class HistoryWindow<T extends HistoryEntry> {
  readonly #bounds: HistoryBounds;
  #entries: T[] = [];
  /** Those before it are forgotten. */
  #first = 0;
  #bytes = 0;

  constructor(bounds: HistoryBounds) {
    this.#bounds = bounds;
  }

  push(entry: T): void {
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
  }

  /** Takes out what is beyond the bounds, oldest first, and at most `limit` of it. */
  expire(now: number, limit = Number.POSITIVE_INFINITY): readonly T[] {
    const from = this.#first;
    for (; this.#first - from < limit; this.#first++) {
      const oldest = this.#entries[this.#first];
      if (!oldest || !this.#isBeyond(oldest, now)) break;
      this.#bytes -= oldest.bytes;
    }
    if (this.#first === from) return NONE;
    const expired = this.#entries.slice(from, this.#first);
    if (this.#first > 1024 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    } else {
      this.#entries.fill(EMPTY as T, from, this.#first);
    }
    return expired;
  }

  #isBeyond(oldest: T, now: number): boolean {
    const { milliseconds, changes, bytes } = this.#bounds;
    return oldest.time < now - milliseconds || this.#entries.length - this.#first > changes || this.#bytes > bytes;
  }
}

const NONE: readonly never[] = Object.freeze([]);
/** Stands where an entry was, so that nothing keeps what it held. */
const EMPTY: HistoryEntry = Object.freeze({ time: 0, bytes: 0 });
