import { QUERY_LIMITS } from '../query/query-limits.ts';
import { StoreError } from '../store-error.ts';

const FIRST_STEP = 100;
const LONGEST_STEP = 1_000;
/** How long a step should take, ms: others wait so long. */
const SHORT_MS = 5;
const LONG_MS = 15;

/** How many rows a query looks into before others get their turn, and for how long in all. Objects differ in size a thousandfold. */
export class SearchSteps {
  /** Of the next step. */
  rows = FIRST_STEP;
  readonly #now: () => number;
  #spentMs = 0;

  /** @param now ms of a clock that nobody sets. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs a step. Throws a StoreError `TOO_COSTLY` where all of them took too long. */
  time(step: () => void): void {
    const begun = this.#now();
    step();
    const ms = this.#now() - begun;
    this.#spentMs += ms;
    if (ms < SHORT_MS) this.rows = Math.min(LONGEST_STEP, this.rows * 2);
    else if (ms > LONG_MS) this.rows = Math.max(1, Math.floor((this.rows * LONG_MS) / ms / 1.5));
    if (this.#spentMs <= QUERY_LIMITS.searchMs) return;
    const message =
      `the search looked into objects for more than ${QUERY_LIMITS.searchMs} ms: select by cluster, namespace, ` +
      'resource or label too, or use fewer conditions on fields';
    throw new StoreError('TOO_COSTLY', message);
  }
}
