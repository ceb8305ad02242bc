import { CelMap, CelOpaque, type Value } from '../values/value.ts';

/** How much real work one unit of the cost limit pays for: some 30 ns each. */
const WORK_PER_COST = 10;
/** Texts from this length on are measured once. */
const LONG_TEXT = 64;

/** An evaluation that cost too much. */
export class CostExceeded extends Error {
  override readonly name = 'CostExceeded';

  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/**
 * Counts what one evaluation costs, and ends it when that is too much.
 *
 * M1  `cost` is exactly the figure that cel-go counts, so that the same expressions are within the same limit.
 * M2  `work` is what the evaluation really does: elements compared, characters copied. cel-go counts some of it as 1.
 * M3  Work is charged before it is done, so that no value is made that the limit does not allow.
 */
export class Meter {
  readonly #limit: number;
  readonly #sizes = new Map<string, number>();
  #cost = 0;
  #work = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get cost(): number {
    return this.#cost;
  }

  charge(cost: number): void {
    this.#cost += cost;
    this.#work += 1;
    if (this.#cost > this.#limit || this.#work > this.#limit * WORK_PER_COST) throw new CostExceeded();
  }

  /** `units` elements or some ten characters. */
  work(units: number): void {
    this.#work += units;
    if (this.#work > this.#limit * WORK_PER_COST) throw new CostExceeded();
  }

  /** Characters, bytes, elements or members; 1 of all that has none. */
  sizeOf(value: Value): number {
    if (typeof value === 'string') return this.textSize(value);
    if (typeof value !== 'object' || value === null) return 1;
    if (Array.isArray(value) || value instanceof Uint8Array) return value.length;
    return value instanceof CelMap || value instanceof CelOpaque ? value.size : 1;
  }

  /** The number of characters, which JavaScript has to count. */
  textSize(text: string): number {
    if (text.length < LONG_TEXT) return countCharacters(text);
    const known = this.#sizes.get(text);
    if (known !== undefined) return known;
    this.work(text.length / 10);
    const size = countCharacters(text);
    this.#sizes.set(text, size);
    return size;
  }
}

/** A pair of surrogates is one character. */
function countCharacters(text: string): number {
  let size = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) size--;
  }
  return size;
}
