import type { KubeObject } from '@asterism/machinery';
import type { Clock, Enqueue, Request } from '@asterism/runtime';
import type { Work } from '../api/index.ts';
import type { Binding } from '../template/binding-client.ts';
import { takesDependencies } from '../template/dependencies.ts';
import { bindingRequest, type DeliveryView } from './delivery-view.ts';

/** For how long a template's Works wait for those of what it needs, ms. */
const PATIENCE_MS = 5_000;

interface Waiting {
  /** It has waited long enough: until nothing is missing it waits no more. */
  isOver: boolean;
  cancelTimer: () => void;
}

/**
 * Has the Works of what follows a template written before the template's own. A follower is placed when its template is: an executor
 * would have done with the template's Work before it hears of the follower's. A follower that does not come holds nobody for long.
 */
export class FollowersFirst {
  readonly #view: DeliveryView;
  readonly #clock: Clock;
  /** By uid, the bindings of which some follower is missing somewhere. */
  readonly #waiting = new Map<string, Waiting>();
  #enqueue: Enqueue | undefined;

  constructor(view: DeliveryView, clock: Clock) {
    this.#view = view;
    this.#clock = clock;
  }

  /** Asks again for what has waited long enough. */
  follow(enqueue: Enqueue): void {
    this.#enqueue = enqueue;
  }

  /** In which of these clusters the binding's Works must wait; it is asked for again when that is over. */
  async awaitedIn(
    binding: Binding,
    template: KubeObject,
    clusters: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const isAsked = clusters.length > 0 && takesDependencies(binding);
    const named = isAsked ? await this.#view.followersOf(template, signal) : [];
    const withheld = binding.spec.withheld ?? [];
    const followers = named.filter(
      ({ kind, name }) => !withheld.some((each) => each.kind === kind && each.name === name),
    );
    const missing = clusters.filter((cluster) => followers.some((follower) => this.#view.lacks(follower, cluster)));
    if (missing.length === 0) this.forget(binding);
    else if (this.#wait(binding)) return new Set(missing);
    return new Set();
  }

  /** Bindings that may have waited for this Work. */
  waitingFor(work: Work): Request[] {
    if (this.#waiting.size === 0) return [];
    const parents = this.#view.parentsOf(work);
    return parents.filter(({ metadata }) => this.#waiting.has(metadata.uid ?? '')).map(bindingRequest);
  }

  forget({ metadata: { uid = '' } }: Binding): void {
    this.#waiting.get(uid)?.cancelTimer();
    this.#waiting.delete(uid);
  }

  #wait(binding: Binding): boolean {
    const { uid = '' } = binding.metadata;
    const present = this.#waiting.get(uid);
    if (present) return !present.isOver;
    const end = (): void => {
      waiting.isOver = true;
      this.#enqueue?.(bindingRequest(binding));
    };
    const waiting = { isOver: false, cancelTimer: this.#clock.setTimer(end, PATIENCE_MS, { background: true }) };
    this.#waiting.set(uid, waiting);
    return true;
  }
}
