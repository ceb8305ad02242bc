import type { Pace } from './pace.ts';

/** How long all that share the turns may compute before other work of the process gets its turn. */
const SLICE_MS = 10;

/**
 * Shares the event loop between long computations and everything else of the process.
 *
 * L1  In one turn of the loop, the computations together take at most a slice, and the step that was under way when it ended.
 * L2  A step that must wait is taken in a later turn, in the order of asking, one in each turn.
 * L3  A step that begins within the slice does not wait.
 */
export class LoopTurns implements Pace {
  readonly #sliceMs: number;
  readonly #now: () => number;
  /** When the first computation of this turn began; undefined in a turn that had none so far. */
  #began: number | undefined;
  #waiting: (() => void)[] = [];

  /** @param options.now milliseconds of a clock that never goes back. */
  constructor({ sliceMs = SLICE_MS, now = () => performance.now() }: { sliceMs?: number; now?: () => number } = {}) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  async run<T>(step: () => T | Promise<T>): Promise<T> {
    if (this.#began === undefined) this.#begin();
    else if (this.#now() - this.#began >= this.#sliceMs) await this.#later();
    return step();
  }

  #later(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#began = this.#now();
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#began = undefined;
    const resume = this.#waiting.shift();
    if (!resume) return;
    this.#begin();
    resume();
  }
}
