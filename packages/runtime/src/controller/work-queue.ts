import type { Clock } from '@asterism/client';
import { FairQueue } from './fair-queue.ts';
import type { QueueInstruments, QueueLoad } from '../instruments/instruments.ts';
import { LOCAL_CLUSTER, type Request, requestKey } from './reconcile.ts';

/**
 * The clock, the limits and the listeners of a work queue.
 *
 * @example {@link WorkQueue}
 */
export interface WorkQueueOptions {
  clock: Clock;
  /** The first delay of a failing item. Default 5 ms, doubled with each failure. */
  initialDelayMs?: number | undefined;
  /** Default 1000 s. */
  capDelayMs?: number | undefined;
  /** How many items of one member cluster may be worked on at the same time. Default: no limit. */
  perCluster?: number | undefined;
  /** Told of what comes and goes. */
  instruments?: QueueInstruments | undefined;
  /** For the instruments. Default: the monotonic time of `clock`. */
  monotonic?: (() => number) | undefined;
}

/**
 * How an item stands in line.
 *
 * @example {@link WorkQueue}
 */
export interface AddOptions {
  /** Higher goes first. Default 0. */
  priority?: number | undefined;
}

/**
 * The priority of what an initial list asks for: below live changes.
 *
 * @example
 * ```ts
 * createController({ name: 'web', reconcile }).source((enqueue) => {
 *   enqueue({ cluster: LOCAL_CLUSTER, name: 'everything' }, { priority: INITIAL_PRIORITY });
 * });
 * ```
 */
export const INITIAL_PRIORITY = -100;

interface Item {
  readonly key: string;
  readonly request: Request;
  /** To be done: in line, or, while somebody works on it, again afterwards. */
  dirty: boolean;
  processing: boolean;
  /** To be done at a time. */
  waiting: { at: number; cancel: () => void } | undefined;
  priority: number;
  failures: number;
  /** Since when it is dirty, and since when it is worked on. */
  dirtySince: number;
  takenAt: number;
}

/**
 * What is to be reconciled.
 *
 * Q1 Never are two workers on one item: an item that is added while it is worked on comes again after `done`.
 * Q2 An item stands in the queue once. Adding it again keeps the earliest time and the highest priority.
 * Q3 Within a priority the clusters take turns, and within a cluster its namespaces: ten thousand items of one do not delay
 *    the single item of another.
 * Q4 A failing item waits 5 ms, 10 ms, … up to 1000 s, each by itself, or until its cluster, which gave no answer, is back.
 * Q5 Of a member cluster at most `perCluster` items are worked on, so that a dead one does not hold every worker.
 *
 * @example
 * ```ts
 * const queue = new WorkQueue({ clock: systemClock, perCluster: 4 });
 * queue.add({ cluster: 'paris', namespace: 'shop', name: 'web' }, { priority: 1 });
 * for (let item = await queue.take(); item; item = await queue.take()) {
 *   await reconcile(item, context).then(
 *     () => queue.forget(item),
 *     () => queue.addRateLimited(item),
 *   );
 *   queue.done(item);
 * }
 * ```
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #initialDelayMs: number;
  readonly #capDelayMs: number;
  readonly #perCluster: number;
  readonly #instruments: QueueInstruments | undefined;
  readonly #monotonic: () => number;
  readonly #items = new Map<string, Item>();
  readonly #line = new FairQueue<Item>();
  readonly #processing = new Map<string, number>();
  readonly #takers: ((request: Request | undefined) => void)[] = [];
  readonly #onDone = new Set<() => void>();
  #shutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#initialDelayMs = options.initialDelayMs ?? 5;
    this.#capDelayMs = options.capDelayMs ?? 1_000_000;
    this.#perCluster = options.perCluster ?? Number.POSITIVE_INFINITY;
    this.#instruments = options.instruments;
    this.#monotonic = options.monotonic ?? (() => options.clock.monotonic());
  }

  /** Items in line; those that wait for their time, or are worked on, are not counted. */
  get length(): number {
    return this.#line.size;
  }

  /** What stands here of each cluster that has any. */
  loads(): Map<string, QueueLoad> {
    const now = this.#monotonic();
    const loads = new Map<string, QueueLoad & { depth: Map<number, number> }>();
    for (const { request, dirty, processing, priority, takenAt } of this.#items.values()) {
      if (!dirty && !processing) continue;
      const load = loads.get(request.cluster) ?? { depth: new Map(), working: 0, unfinishedMs: 0, longestMs: 0 };
      loads.set(request.cluster, load);
      if (dirty) load.depth.set(priority, (load.depth.get(priority) ?? 0) + 1);
      if (!processing) continue;
      load.working++;
      load.unfinishedMs += now - takenAt;
      load.longestMs = Math.max(load.longestMs, now - takenAt);
    }
    return loads;
  }

  add(request: Request, options: AddOptions = {}): void {
    this.addAfter(request, 0, options);
  }

  addAfter(request: Request, ms: number, { priority = 0 }: AddOptions = {}): void {
    if (this.#shutDown) return;
    const item = this.#item(request);
    if (ms > 0) this.#instruments?.retried(request.cluster);
    item.priority = item.dirty || item.waiting ? Math.max(item.priority, priority) : priority;
    if (ms > 0 && !item.dirty) this.#wait(item, ms);
    else if (ms > 0) this.#enqueue(item);
    else this.#makeDirty(item);
  }

  /** For an item that failed; each call counts as a failure. It waits for `atLeastMs`, however few they are. */
  addRateLimited(request: Request, { atLeastMs = 0, ...options }: AddOptions & { atLeastMs?: number } = {}): void {
    const failures = this.#item(request).failures++;
    const delayMs = Math.min(this.#initialDelayMs * 2 ** failures, this.#capDelayMs);
    this.addAfter(request, Math.max(delayMs, atLeastMs), options);
  }

  /** Failures since the last `forget`. */
  failures(request: Request): number {
    return this.#items.get(requestKey(request))?.failures ?? 0;
  }

  /** The item did well: its next failure is a first one. */
  forget(request: Request): void {
    const item = this.#items.get(requestKey(request));
    if (!item) return;
    item.failures = 0;
    this.#dropIfIdle(item);
  }

  /** What failed of a cluster, and waits for its next try, need not any longer, and its next failure is a first one. */
  retryFailed(cluster: string): void {
    for (const item of this.#items.values()) {
      if (item.request.cluster !== cluster || item.failures === 0) continue;
      item.failures = 0;
      if (item.waiting) this.#makeDirty(item);
    }
  }

  /** The next item; waits for one. Undefined when the queue is shut down. Every item must be given back with `done`. */
  take(): Promise<Request | undefined> {
    if (this.#shutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  done(request: Request): void {
    const item = this.#items.get(requestKey(request));
    if (!item?.processing) return;
    item.processing = false;
    const { cluster } = item.request;
    this.#instruments?.done(cluster, this.#monotonic() - item.takenAt);
    const left = (this.#processing.get(cluster) ?? 1) - 1;
    if (left > 0) this.#processing.set(cluster, left);
    else this.#processing.delete(cluster);
    if (item.dirty) this.#enqueue(item);
    this.#dropIfIdle(item);
    this.#serve();
    for (const check of this.#onDone) check();
  }

  /** Forgets all of a cluster; resolves when nobody works on an item of it any more. */
  async purge(cluster: string): Promise<void> {
    for (const item of this.#items.values()) {
      if (item.request.cluster !== cluster) continue;
      item.waiting?.cancel();
      item.waiting = undefined;
      item.dirty = false;
      item.failures = 0;
      this.#line.delete(item);
      this.#dropIfIdle(item);
    }
    await this.#until(() => !this.#processing.has(cluster));
  }

  /** Gives nothing more out; resolves when what is worked on is done. */
  async shutDown(): Promise<void> {
    this.#shutDown = true;
    for (const item of this.#items.values()) item.waiting?.cancel();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    await this.#until(() => this.#processing.size === 0);
  }

  #item(request: Request): Item {
    const key = requestKey(request);
    let item = this.#items.get(key);
    if (!item) {
      item = {
        key,
        request,
        dirty: false,
        processing: false,
        waiting: undefined,
        priority: 0,
        failures: 0,
        dirtySince: 0,
        takenAt: 0,
      };
      this.#items.set(key, item);
    }
    return item;
  }

  #dropIfIdle(item: Item): void {
    if (!item.dirty && !item.waiting && !item.processing && item.failures === 0) this.#items.delete(item.key);
  }

  #wait(item: Item, ms: number): void {
    const at = this.#clock.monotonic() + ms;
    if (item.waiting && item.waiting.at <= at) return;
    item.waiting?.cancel();
    item.waiting = { at, cancel: this.#clock.setTimer(() => this.#makeDirty(item), ms) };
  }

  #makeDirty(item: Item): void {
    item.waiting?.cancel();
    item.waiting = undefined;
    if (!item.dirty) {
      item.dirtySince = this.#monotonic();
      this.#instruments?.added(item.request.cluster);
    }
    item.dirty = true;
    this.#enqueue(item);
    this.#serve();
  }

  /** To the place that its priority gives it; it may be in line already. */
  #enqueue(item: Item): void {
    if (item.processing) return;
    const { cluster, namespace = '' } = item.request;
    this.#line.add(item, { priority: item.priority, cluster, namespace });
  }

  #serve(): void {
    while (this.#takers.length > 0) {
      const item = this.#line.take((cluster) => this.#admits(cluster));
      if (!item) return;
      const { cluster } = item.request;
      item.dirty = false;
      item.processing = true;
      item.takenAt = this.#monotonic();
      this.#instruments?.taken(cluster, item.takenAt - item.dirtySince);
      this.#processing.set(cluster, (this.#processing.get(cluster) ?? 0) + 1);
      this.#takers.shift()?.(item.request);
    }
  }

  #admits(cluster: string): boolean {
    return cluster === LOCAL_CLUSTER || (this.#processing.get(cluster) ?? 0) < this.#perCluster;
  }

  async #until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds()) resolve();
    };
    this.#onDone.add(check);
    await promise;
    this.#onDone.delete(check);
  }
}
