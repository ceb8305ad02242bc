import type { KubeObject } from '@asterism/machinery';
import type { Clock, Enqueue, Request } from '@asterism/runtime';
import { clusterNamespace, type Work } from '../api/index.ts';
import { type Binding, bindingRequest } from '../template/binding-client.ts';
import { workName } from '../template/binding-name.ts';
import { dependencyKeysOf, takesDependencies } from '../template/dependencies.ts';
import { isReserved } from '../template/reserved.ts';
import type { TemplateKey } from '../template/template-key.ts';
import type { DeliveryView } from './delivery-view.ts';

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
    const named = isAsked ? await this.#followersOf(template, signal) : [];
    const withheld = binding.spec.withheld ?? [];
    const followers = named.filter(
      ({ kind, name }) => !withheld.some((each) => each.kind === kind && each.name === name),
    );
    const missing = clusters.filter((cluster) => followers.some((follower) => this.#lacks(follower, cluster)));
    if (missing.length === 0) this.forget(binding);
    else if (this.#wait(binding)) return new Set(missing);
    return new Set();
  }

  /** Bindings that may have waited for this Work. */
  waitingFor(work: Work): Request[] {
    if (this.#waiting.size === 0) return [];
    const { requiredBy = [] } = this.#view.bindingOf(work)?.spec ?? {};
    const parents = requiredBy.flatMap((parent) => this.#view.bindings.ofTemplate(parent) ?? []);
    return parents.filter(({ metadata }) => this.#waiting.has(metadata.uid ?? '')).map(bindingRequest);
  }

  forget({ metadata: { uid = '' } }: Binding): void {
    this.#waiting.get(uid)?.cancelTimer();
    this.#waiting.delete(uid);
  }

  /** What goes along with a template: what it needs, and what that needs in turn. Resolves when all of those kinds are listed. */
  async #followersOf(template: KubeObject, signal: AbortSignal): Promise<TemplateKey[]> {
    const { templates } = this.#view;
    const needed = dependencyKeysOf(template);
    await Promise.all(needed.map((key) => templates.kinds.listed(key, signal)));
    const inTurn = needed.flatMap((key) => dependencyKeysOf(templates.known(key) ?? {}));
    await Promise.all(inTurn.map((key) => templates.kinds.listed(key, signal)));
    return [...needed, ...inTurn];
  }

  /** Whether a template that another one needs exists, and has no Work in the cluster. */
  #lacks(key: TemplateKey, clusterName: string): boolean {
    const { templates, bindings, works } = this.#view;
    const template = templates.known(key);
    if (!template || template.metadata?.deletionTimestamp || isReserved(template)) return false;
    const { name = '', namespace } = bindings.ofTemplate(key)?.metadata ?? {};
    const work = works.get({ namespace: clusterNamespace(clusterName), name: workName({ name, namespace }) });
    return work === undefined || work.metadata.deletionTimestamp !== undefined;
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
