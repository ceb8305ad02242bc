import { READ_BUDGET_BYTES } from './read-limits.ts';

/**
 * Bounds the bytes of all answers that are read at the same time, usually those of one server.
 *
 * B1 An answer that needs more than is left waits until another one is done.
 * B2 The answer that began first never waits, so that readers cannot wait for each other. It has limits of its own.
 * B3 So the bytes in memory are at most the budget, one answer, and one piece of each answer that waits.
 */
export class ReadBudget {
  readonly #bytes: number;
  #used = 0;
  readonly #leases = new Set<ReadLease>();

  constructor(bytes: number = READ_BUDGET_BYTES) {
    this.#bytes = bytes;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#used;
  }

  /** For one answer. It must be released. */
  open(): ReadLease {
    const lease: ReadLease = new ReadLease({
      take: (bytes) => {
        this.#used += bytes;
        return this.#used <= this.#bytes || this.#isFirst(lease);
      },
      leave: (bytes) => {
        this.#leases.delete(lease);
        this.#used -= bytes;
        this.#wake();
      },
    });
    this.#leases.add(lease);
    return lease;
  }

  /** Takes bytes at once, for what cannot wait; false where they are not there. */
  reserve(bytes: number): boolean {
    if (this.#used + bytes > this.#bytes) return false;
    this.#used += bytes;
    return true;
  }

  /** Gives back what was reserved. */
  free(bytes: number): void {
    this.#used -= bytes;
    if (bytes > 0) this.#wake();
  }

  #isFirst(lease: ReadLease): boolean {
    const [first] = this.#leases;
    return first === lease;
  }

  #wake(): void {
    const [first] = this.#leases;
    first?.wake();
    if (this.#used <= this.#bytes) for (const lease of this.#leases) lease.wake();
  }
}

interface Purse {
  take(bytes: number): boolean;
  leave(bytes: number): void;
}

/** What one answer holds of a {@link ReadBudget}. */
export class ReadLease implements Disposable {
  readonly #purse: Purse;
  #held = 0;
  #wake: (() => void) | undefined;
  #left = false;

  constructor(purse: Purse) {
    this.#purse = purse;
  }

  /** Whether it waits for others. */
  get waits(): boolean {
    return this.#wake !== undefined;
  }

  /** Counts bytes that have come. With a promise, no more may be read until that resolves. */
  take(bytes: number): Promise<void> | undefined {
    if (this.#left) return undefined;
    this.#held += bytes;
    if (this.#purse.take(bytes)) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Ends the wait, because there is room or because the answer is not wanted any more. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  [Symbol.dispose](): void {
    if (this.#left) return;
    this.#left = true;
    this.wake();
    this.#purse.leave(this.#held);
  }
}
