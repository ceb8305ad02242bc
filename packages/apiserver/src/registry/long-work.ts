import { setImmediate as nextTurn } from 'node:timers/promises';

/** After so long others have their turn. */
const HELD_MS = 40;

/** Work in steps that may take long. Between two steps others have their turn if it is due; most work is short and gives none. */
export class LongWork {
  #since = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#since >= HELD_MS;
  }

  /** Resolves when everything that waited has had its turn. */
  async giveWay(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
