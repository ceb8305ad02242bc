import { refuseReading } from './read-limit-error.ts';
import { LIST_LIMITS, type ListLimits } from './read-limits.ts';

/** Of the tokens before, so many are remembered. A server that repeats its tokens in a longer circle reaches another limit. */
const REMEMBERED = 1_000;

/** One page, as it counts. */
export interface Page {
  objects: number;
  bytes: number;
  continue: string | undefined;
}

/**
 * Follows the pages of one list.
 *
 * L1 A list that sends a `continue` token twice never ends, and is refused.
 * L2 A list of more pages, objects or bytes than {@link LIST_LIMITS} is refused.
 */
export class ListProgress {
  readonly #source: string;
  readonly #limits: ListLimits;
  readonly #tokens = new Set<string>();
  #pages = 0;
  #objects = 0;
  #bytes = 0;

  constructor(source: string, limits: ListLimits = LIST_LIMITS) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Counts a page. Throws a `ReadLimitError` where the list has more than is read. */
  add(page: Page): void {
    const { maxPages } = this.#limits;
    this.#pages++;
    this.#objects += page.objects;
    this.#bytes += page.bytes;
    if (page.continue === undefined || page.continue === '') return;
    if (this.#tokens.has(page.continue)) this.#refuse('the same continue token twice');
    if (this.#pages >= maxPages) this.#refuse(`more than ${maxPages} pages of a list`);
    this.#checkSize();
    this.#remember(page.continue);
  }

  /** Counts an object of a list that comes one object at a time. */
  addObject(bytes: number): void {
    this.#objects++;
    this.#bytes += bytes;
    this.#checkSize();
  }

  #checkSize(): void {
    const { maxObjects, maxBytes } = this.#limits;
    if (this.#objects >= maxObjects) this.#refuse(`more than ${maxObjects} objects in a list`);
    if (this.#bytes >= maxBytes) this.#refuse(`more than ${maxBytes} bytes in a list`);
  }

  #remember(token: string): void {
    if (this.#tokens.size >= REMEMBERED) {
      const [oldest = ''] = this.#tokens;
      this.#tokens.delete(oldest);
    }
    this.#tokens.add(token);
  }

  #refuse(excess: string): never {
    throw refuseReading({ limit: 'pages', source: this.#source, use: 'list', excess });
  }
}
