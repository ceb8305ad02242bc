import type { Clock } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import type { Cluster } from '../cluster/cluster.ts';
import type { Enqueue } from '../controller/controller.ts';
import type { Informer } from '../cache/informer.ts';
import { type Request, requestKey } from '../controller/reconcile.ts';

/** When to work again on a cluster that lets some requests go unanswered and answers others; twice as late each time. */
const HICCUP_MS = 1_000;
const HICCUP_CAP_MS = 60_000;

export interface ClusterViewOptions<T extends KubeObject> {
  cluster: Cluster;
  informer: Informer<T>;
  enqueue: Enqueue;
  /** Aborts when nothing is to be known of the cluster any more. */
  ending: AbortSignal;
  clock: Clock;
}

/** What is known of one cluster: what stands there, whether it answers, and who waits until it does. */
export class ClusterView<T extends KubeObject> {
  readonly cluster: Cluster;
  readonly informer: Informer<T>;
  readonly #options: ClusterViewOptions<T>;
  readonly #parked = new Map<string, Request>();
  /** It has come back, which its watches, and so its health, may not show yet. */
  #returned = false;
  /** It left a request unanswered, which its watches, and so its health, may not show yet. */
  #silent = false;
  /** How often in a row it did so, and answered others. */
  #hiccups = 0;

  constructor(options: ClusterViewOptions<T>) {
    this.cluster = options.cluster;
    this.informer = options.informer;
    this.#options = options;
    const forgo = this.cluster.onReturn(() => {
      this.#returned = true;
      this.#unpark();
    });
    options.ending.addEventListener('abort', forgo, { once: true });
  }

  get isSilent(): boolean {
    const unreachable = this.cluster.health() === 'Unreachable';
    if (!unreachable) this.#returned = false;
    return this.#silent || (unreachable && !this.#returned);
  }

  /** It did what it was asked. */
  answered(): void {
    this.#hiccups = 0;
  }

  /** It gave no answer, or is known not to: it is silent until it answers again, and the request is asked for then. */
  park({ cluster, namespace, name }: Request): void {
    const { ending, clock } = this.#options;
    const request = { cluster, namespace, name };
    this.#returned = false;
    this.#parked.set(requestKey(request), request);
    if (this.#silent) return;
    this.#silent = true;
    // With true, onReturn has told of it; with false it answers others, and did all along.
    const delay = (): number => Math.min(HICCUP_MS * 2 ** this.#hiccups++, HICCUP_CAP_MS);
    this.cluster.answersAgain(ending).then(
      (again) => again || clock.setTimer(() => this.#unpark(), delay(), { background: true }),
      () => {}, // it was disengaged, or the manager stops
    );
  }

  #unpark(): void {
    this.#silent = false;
    for (const request of this.#parked.values()) this.#options.enqueue(request);
    this.#parked.clear();
  }
}
