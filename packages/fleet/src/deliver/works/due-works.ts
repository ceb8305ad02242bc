import { objectKey } from '@asterism/machinery';
import type { Clock } from '@asterism/runtime';
import type { Work } from '../../api/index.ts';
import { placesBefore, placesOf } from './apply-order.ts';
import type { Works } from './works.ts';

/** For how long a Work waits for others in all, and how long others wait for it from when it is begun, ms. */
export const PATIENCE_MS = 5_000;

interface Due {
  /** As it was seen last. */
  work: Work;
  /** Where it stands in the way of others. */
  places: readonly string[];
  /** The places before it that it has not seen empty yet, the next one first; undefined until it is asked for. */
  ahead: string[] | undefined;
  /** `tried`: done with, and only not told of yet. */
  state: 'due' | 'begun' | 'tried';
  /** Ends its waiting, and once it is begun that of others for it. */
  cancelTimer: () => void;
}

interface Place {
  standing: Set<Due>;
  waiting: Set<Due>;
}

/**
 * Whose turn it is among the Works of each cluster: prerequisites first, across Works (see {@link placesBefore}).
 *
 * D1  A Work is due from when its generation is seen until that was tried: by this process, or by another, as the status says. What is
 *     not due neither waits nor is waited for; nor does what is held back or goes.
 * D2  A due Work waits until it has seen each place before it empty. What comes to one after that has come later than it.
 * D3  It waits for at most `PATIENCE_MS`, and is waited for no longer than that once it is begun, nor after it was tried, whether it
 *     stands or has failed.
 * D4  Whatever is called costs the same however many Works there are; but for those that are released.
 */
export class DueWorks {
  readonly #clock: Clock;
  readonly #release: (work: Work) => void;
  readonly #due = new Map<string, Due>();
  readonly #places = new Map<string, Place>();

  /** @param release called with a Work that has waited, when its turn has come */
  constructor(clock: Clock, release: (work: Work) => void) {
    this.#clock = clock;
    this.#release = release;
  }

  /** Keeps up with the Works until the signal aborts. */
  follow(works: Works, signal: AbortSignal): void {
    const see = (work: Work): void => this.see(work);
    works.follow(
      { onAdd: see, onUpdate: (_, work) => see(work), onDelete: (work) => this.forget(objectKey(work)) },
      signal,
    );
  }

  /** For a Work that has come, or changed. */
  see(work: Work): void {
    const key = objectKey(work);
    const present = this.#due.get(key);
    const isSame = present?.work.metadata.generation === work.metadata.generation;
    // What is begun ends by itself: a definition is told of before it is established.
    if (isSame && present?.state === 'begun') present.work = work;
    else if (!isDue(work)) this.forget(key);
    else if (present && present.state !== 'tried') this.#change(present, work);
    else if (!isSame) {
      const due: Due = { work, places: [], ahead: undefined, state: 'due', cancelTimer: () => {} };
      this.#due.set(key, due);
      this.#stand(due, placesOf(work));
    }
  }

  forget(key: string): void {
    const due = this.#due.get(key);
    if (!due) return;
    this.#due.delete(key);
    this.#goPast(due);
    this.#stand(due, []);
  }

  /** For the Works of a cluster that answers from now on: for how long they have waited before does not count. */
  renew(works: readonly Work[]): void {
    for (const work of works) this.forget(objectKey(work));
    for (const work of works) this.see(work);
  }

  /** How long a Work whose turn has come waits still, in ms, unless it is released before; 0 where it need not. */
  left(work: Work): number {
    const due = this.#due.get(objectKey(work));
    if (due?.state !== 'due') return 0;
    if (!due.ahead) {
      due.ahead = placesBefore(due.work);
      if (this.#isHeld(due)) due.cancelTimer = this.#after(() => this.#goOn(due));
    }
    return due.ahead.length > 0 ? PATIENCE_MS : 0;
  }

  /** It is being applied. */
  begin(work: Work): void {
    const due = this.#due.get(objectKey(work));
    if (due?.state !== 'due') return;
    this.#goPast(due);
    due.state = 'begun';
    if (due.places.length > 0) due.cancelTimer = this.#after(() => this.#stand(due, []));
  }

  /** It was applied as it said then, or could not be. */
  end(work: Work): void {
    const key = objectKey(work);
    const due = this.#due.get(key);
    if (due?.state !== 'begun' || due.work.metadata.generation !== work.metadata.generation) return;
    due.cancelTimer();
    due.state = 'tried';
    this.#stand(due, []);
    if (!isDue(due.work)) this.#due.delete(key);
  }

  /** Of one that was not tried yet. It waits no longer for having changed. */
  #change(due: Due, work: Work): void {
    due.work = work;
    if (due.state === 'begun') due.cancelTimer();
    due.state = 'due';
    this.#stand(due, placesOf(work));
  }

  /** Stands in these places alone from now on. Who waits for one that is empty now looks for the next. */
  #stand(due: Due, places: readonly string[]): void {
    const left = due.places.filter((name) => !places.includes(name));
    due.places = places;
    for (const name of places) {
      const place = this.#places.get(name) ?? { standing: new Set(), waiting: new Set() };
      this.#places.set(name, place);
      place.standing.add(due);
    }
    for (const name of left) {
      const place = this.#places.get(name);
      place?.standing.delete(due);
      if (!place || place.standing.size > 0) continue;
      this.#places.delete(name);
      for (const waiting of place.waiting) if (!this.#isHeld(waiting)) this.#goOn(waiting);
    }
  }

  /** Goes past places that are empty. True where one is not: there it waits. */
  #isHeld(due: Due): boolean {
    const { ahead = [] } = due;
    for (let name = ahead[0]; name !== undefined; name = ahead[0]) {
      const place = this.#places.get(name);
      place?.waiting.add(due);
      if (place) return true;
      ahead.shift();
    }
    return false;
  }

  #goOn(due: Due): void {
    this.#goPast(due);
    this.#release(due.work);
  }

  /** It waits for nobody any more. */
  #goPast(due: Due): void {
    const [name] = due.ahead ?? [];
    if (name !== undefined) this.#places.get(name)?.waiting.delete(due);
    due.ahead = [];
    due.cancelTimer();
  }

  #after(callback: () => void): () => void {
    return this.#clock.setTimer(callback, PATIENCE_MS, { background: true });
  }
}

/** Whether what it says now was never tried, as far as its status tells. */
function isDue({ metadata, spec, status }: Work): boolean {
  if (metadata.deletionTimestamp || spec.suspendDispatching) return false;
  return status?.observedGeneration !== metadata.generation;
}
