import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '@asterism/machinery';

/** After so long others have their turn. */
const HELD_MS = 15;

/** Work in steps that may take long. Between two steps others have their turn if it is due; most work is short and gives none. */
export class LongWork {
  #since = performance.now();

  /** Takes one step. If it is due, others have their turn first. */
  step<T>(take: () => T | Promise<T>): T | Promise<T> {
    return this.isDue ? this.giveWay().then(take) : take();
  }

  get isDue(): boolean {
    return performance.now() - this.#since >= HELD_MS;
  }

  /** Resolves when everything that waited has had its turn. */
  async giveWay(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }

  /** Takes steps one after the other. Between two of them others have their turn if it is due. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      if (this.isDue) await this.giveWay();
      const { done, value } = steps.next();
      if (done) return value;
    }
  }
}
