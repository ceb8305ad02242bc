import type { Webhook } from './webhook-configurations.ts';

/**
 * Which mutating webhooks are asked a second time (`reinvocationPolicy: IfNeeded`), as upstream's reinvocation context:
 *
 *   R1  a webhook that was asked and wants it is due again once a later one has changed the object;
 *   R2  so are all that were asked, where what runs in the server itself has changed it after them;
 *   R3  one that was not asked in the first round is not asked in the second;
 *   R4  there are two rounds, whatever the second one changes.
 */
export class MutationRounds {
  #number: 0 | 1 = 0;
  #changed = false;
  #asked = new Set<string>();
  readonly #due = new Set<string>();

  /** 0 or 1. */
  get number(): number {
    return this.#number;
  }

  get shouldReplay(): boolean {
    return this.#changed;
  }

  beginSecond(changedSince: boolean): void {
    this.#number = 1;
    if (changedSince) this.#askAgain();
  }

  isDue({ id }: Webhook): boolean {
    return this.#number === 0 || this.#due.has(id);
  }

  asked({ id, reinvoked }: Webhook, isChanged: boolean): void {
    if (isChanged) {
      this.#changed = true;
      this.#askAgain();
    }
    if (reinvoked) this.#asked.add(id);
  }

  #askAgain(): void {
    for (const id of this.#asked) this.#due.add(id);
    this.#asked = new Set();
  }
}
