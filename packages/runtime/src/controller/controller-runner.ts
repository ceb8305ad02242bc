import type { Clock } from '@asterism/client';
import type { EngagedCluster } from '../cluster/cluster.ts';
import type { Instruments } from '../instruments/instruments.ts';
import type { Logger } from '../log/logger.ts';
import type { ControllerDescription, Enqueue } from './controller.ts';
import { ControllerSources } from './controller-sources.ts';
import { Echoes } from './echoes.ts';
import { LOCAL_CLUSTER } from './reconcile.ts';
import { Reconciler } from './reconciler.ts';
import { WorkQueue } from './work-queue.ts';
import { Workers } from './workers.ts';

export interface RunnerOptions {
  clock: Clock;
  logger: Logger;
  /** Engaged or local. */
  cluster: (name: string) => EngagedCluster | undefined;
  /** Whether this process may act on a cluster: it leads, or holds it. Always, where it is absent. */
  mayAct?: ((cluster: string) => boolean) | undefined;
  /** With sharding: aborts when the local cluster's requests are no more this process's; undefined while they are not. */
  localTenure?: (() => AbortSignal | undefined) | undefined;
  /** Told of what it does. */
  metrics?: Instruments | undefined;
  /** Milliseconds that nobody sets, for durations. */
  monotonic: () => number;
}

/**
 * A controller at work: its sources queue requests, and its workers take them to its reconciler.
 *
 * With sharding, the local cluster is watched in every process, and a member from its attachment on. Clusters that give no answer
 * hold no worker for more than 5 s.
 */
export class ControllerRunner {
  readonly description: ControllerDescription;
  readonly #options: RunnerOptions;
  readonly #queue: WorkQueue;
  readonly #sources: ControllerSources;
  readonly #reconciler: Reconciler;
  readonly #workers: Workers;
  readonly #abort = new AbortController();

  constructor(description: ControllerDescription, options: RunnerOptions) {
    const { name, kinds } = description;
    const { concurrency = 1, concurrencyPerCluster = Math.ceil(concurrency / 2) } = description.options;
    const { clock, metrics, monotonic } = options;
    this.description = description;
    this.#options = options;
    const logger = options.logger.child({ controller: name });
    const loads = () => this.#queue.loads();
    const instruments = metrics?.controller({ name, maxConcurrentReconciles: concurrency, loads });
    const queue = new WorkQueue({ clock, monotonic, instruments, perCluster: concurrencyPerCluster });
    const echoes = kinds.some(({ options: { ownWrites } }) => ownWrites === 'ignore') ? new Echoes() : undefined;
    const accepts = (cluster: string): boolean => this.#accepts(cluster);
    this.#queue = queue;
    this.#sources = new ControllerSources({ kinds, queue, accepts, echoes, clock, logger });
    this.#reconciler = new Reconciler({
      controller: description.options,
      runner: options,
      logger,
      queue,
      instruments,
      echoes,
      accepts,
      signal: this.#abort.signal,
    });
    this.#workers = new Workers({
      queue,
      clock,
      work: (request) => this.#reconciler.run(request),
      silentMs: (cluster) => options.cluster(cluster)?.silentMs ?? 0,
    });
  }

  /** Fills the caches that it will need of the local cluster, and does nothing about what is in them. */
  warm(local: EngagedCluster): Promise<void> {
    return this.#sources.warm(local, this.#abort.signal);
  }

  /** Begins to work; resolves when the local cluster is attached. */
  async start(local: EngagedCluster): Promise<void> {
    const attached = this.attach(local);
    const enqueue: Enqueue = (request, { priority, afterMs = 0 } = {}) =>
      this.#accepts(request.cluster) && this.#queue.addAfter(request, afterMs, { priority });
    for (const subscribe of this.description.subscriptions) subscribe(enqueue, this.#abort.signal);
    await attached;
    const { concurrency = 1 } = this.description.options;
    this.#workers.start(concurrency);
  }

  /** Watches what the controller watches in this cluster; resolves when it is all in the cache, or the cluster is gone. */
  attach(cluster: EngagedCluster): Promise<void> {
    return this.#sources.attach(cluster);
  }

  /** Called when this process takes over the cluster. Requests of local objects for it are made again. */
  replay(cluster: string): void {
    this.#sources.replay(cluster);
  }

  /** The local cluster is no more this process's; resolves when nothing of it is worked on. */
  async dropLocal(): Promise<void> {
    await this.#queue.purge(LOCAL_CLUSTER);
    this.#reconciler.drop(LOCAL_CLUSTER);
  }

  /** Purges all of a cluster; resolves when nothing of it is worked on. */
  async detach(name: string): Promise<void> {
    this.#sources.detach(name);
    await this.#queue.purge(name);
    this.#reconciler.drop(name);
  }

  /** Takes nothing new; what runs may end until `grace` aborts, and is told to stop then. Caches are left to others. */
  async stop(grace: AbortSignal): Promise<void> {
    const drained = this.#queue.shutDown();
    const onGrace = (): void => this.#abort.abort(new Error('the manager stops'));
    if (grace.aborted) onGrace();
    grace.addEventListener('abort', onGrace, { once: true });
    const workers = Promise.all([drained, this.#workers.ended()]);
    await Promise.race([workers, aborted(grace)]);
    this.#reconciler.close();
    this.#abort.abort(new Error('the manager stops'));
  }

  /** Nothing new is begun of a cluster that is about to be given up, though what runs may still write. */
  #accepts(cluster: string): boolean {
    const { mayAct, localTenure } = this.#options;
    return mayAct?.(cluster) !== false && (cluster !== LOCAL_CLUSTER || !localTenure || localTenure() !== undefined);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
