import { type Client, type Clock, systemClock } from '@asterism/client';
import { type Cluster, type ClusterProvider, EngagedCluster, type Engagement } from './cluster.ts';
import { type Controller, ControllerDescription } from './controller.ts';
import { ControllerRunner } from './controller-runner.ts';
import type { Logger } from './logger.ts';
import { LOCAL_CLUSTER } from './reconcile.ts';

export interface ManagerOptions {
  /** Of the local cluster. */
  client: Client;
  providers?: readonly ClusterProvider[] | undefined;
  logger: Logger;
  clock?: Clock | undefined;
  random?: (() => number) | undefined;
  /** How long running reconciles may take to end. Default 30 s. */
  graceMs?: number | undefined;
}

/** Anything that runs for as long as the manager does. */
export interface Runnable {
  readonly name: string;
  /** Returning early is fine; throwing stops the manager. */
  run(signal: AbortSignal): Promise<void>;
}

export interface Manager {
  readonly local: Cluster;
  /** Local (`''`) or engaged. */
  cluster(name: string): Cluster | undefined;
  /** The engaged ones, without the local one. */
  clusters(): Cluster[];
  /** Calls back for each engaged cluster, now and later; its `signal` tells when it goes. Returns what ends that. */
  onEngage(callback: (cluster: Cluster) => void): () => void;
  /** Before the start or after it. */
  add(part: Controller | Runnable): void;
  /** Resolves after a clean stop; rejects when a part fails, after the others have been stopped. */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves when every controller has the local caches that it needs, and works. Member clusters are not waited for. */
  ready(): Promise<void>;
}

const GRACE_MS = 30_000;

/**
 * Runs controllers over a local cluster and those that providers engage.
 *
 * M1 Start: caches, then controllers (each when its caches are there), then runnables and providers.
 * M2 Stop: providers and runnables, then controllers (what runs may end, for `graceMs`), then caches.
 * M3 What a part does while a cluster is slow or dead concerns that cluster alone.
 */
export function createManager(options: ManagerOptions): Manager {
  return new ClusterManager(options);
}

class ClusterManager implements Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #local: EngagedCluster;
  readonly #members = new Map<string, EngagedCluster>();
  readonly #runners: ControllerRunner[] = [];
  readonly #runnables: Runnable[] = [];
  readonly #engageListeners = new Set<(cluster: Cluster) => void>();
  readonly #starting: Promise<void>[] = [];
  readonly #running: Promise<void>[] = [];
  /** Ends runnables and providers. */
  readonly #partsAbort = new AbortController();
  readonly #cachesAbort = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #started = Promise.withResolvers<void>();
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#local = this.#newCluster(LOCAL_CLUSTER, options.client);
    this.#failed.promise.catch(() => {}); // start() tells of it
    this.#started.promise.catch(() => {});
  }

  get local(): Cluster {
    return this.#local;
  }

  cluster(name: string): EngagedCluster | undefined {
    return name === LOCAL_CLUSTER ? this.#local : this.#members.get(name);
  }

  clusters(): Cluster[] {
    return [...this.#members.values()];
  }

  onEngage(callback: (cluster: Cluster) => void): () => void {
    this.#engageListeners.add(callback);
    for (const cluster of this.#members.values()) callback(cluster);
    return () => this.#engageListeners.delete(callback);
  }

  add(part: Controller | Runnable): void {
    if (part instanceof ControllerDescription) {
      const { logger } = this.#options;
      const runner = new ControllerRunner(part, { clock: this.#clock, logger, cluster: (name) => this.cluster(name) });
      this.#runners.push(runner);
      if (this.#state === 'started') this.#startRunner(runner);
    } else if ('run' in part) {
      this.#runnables.push(part);
      if (this.#state === 'started') this.#run(part);
    } else {
      throw new TypeError(`${part.name} is neither a controller of createController nor a runnable`);
    }
  }

  async ready(): Promise<void> {
    await this.#started.promise;
    await Promise.race([Promise.all(this.#starting), this.#failed.promise]);
  }

  async start(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new Error('this manager was started already');
    this.#state = 'started';
    const stopAsked = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#local.cache.start(this.#cachesAbort.signal);
    for (const runner of this.#runners) this.#startRunner(runner);
    for (const runnable of this.#runnables) this.#run(runnable);
    for (const provider of this.#options.providers ?? []) this.#run(asRunnable(provider, this.#engage));
    this.#started.resolve();
    try {
      await Promise.race([stopAsked, this.#failed.promise]);
    } finally {
      await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    this.#state = 'stopped';
    const grace = new AbortController();
    const cancelTimer = this.#clock.setTimer(() => grace.abort(), this.#options.graceMs ?? GRACE_MS);
    const over = new Promise<void>((resolve) => grace.signal.addEventListener('abort', () => resolve()));
    this.#partsAbort.abort(new Error('the manager stops'));
    await Promise.race([Promise.allSettled(this.#running), over]);
    await Promise.all(this.#runners.map((runner) => runner.stop(grace.signal)));
    const clusters = [...this.#members.values(), this.#local];
    for (const cluster of clusters) cluster.abort(new Error('the manager stops'));
    this.#cachesAbort.abort();
    await Promise.all(clusters.map(({ cache }) => cache.stop()));
    this.#members.clear();
    this.#failed.reject(new Error('the manager was stopped'));
    cancelTimer();
  }

  #startRunner(runner: ControllerRunner): void {
    const starting = runner.start(this.#local);
    this.#starting.push(starting);
    starting.catch((error) => this.#failed.reject(error));
    for (const cluster of this.#members.values()) this.#attach(runner, cluster);
  }

  #attach(runner: ControllerRunner, cluster: EngagedCluster): void {
    runner.attach(cluster).catch((error) => {
      const fields = { err: error, controller: runner.description.name, cluster: cluster.name };
      this.#options.logger.error(fields, 'the controller cannot watch this cluster');
    });
  }

  #run(runnable: Runnable): void {
    const { signal } = this.#partsAbort;
    const running = (async () => runnable.run(signal))().catch((cause) => {
      if (signal.aborted) return;
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#failed.reject(new Error(`${runnable.name} failed: ${message}`, { cause }));
    });
    this.#running.push(running);
  }

  readonly #engage = (name: string, client: Client): Engagement => {
    if (this.#state !== 'started') throw new Error(`cannot engage cluster "${name}": the manager is not running`);
    if (name === LOCAL_CLUSTER) throw new Error('a member cluster needs a name');
    if (this.#members.has(name)) throw new Error(`cluster "${name}" is engaged already`);
    const cluster = this.#newCluster(name, client);
    this.#members.set(name, cluster);
    cluster.cache.start(this.#cachesAbort.signal);
    for (const runner of this.#runners) this.#attach(runner, cluster);
    for (const listener of this.#engageListeners) listener(cluster);
    this.#options.logger.info({ cluster: name }, 'cluster engaged');
    let disengaged: Promise<void> | undefined;
    return {
      cluster,
      replaceClient: (next) => cluster.replaceClient(next),
      disengage: () => (disengaged ??= this.#disengage(cluster)),
    };
  };

  async #disengage(cluster: EngagedCluster): Promise<void> {
    const { name } = cluster;
    cluster.abort(new Error(`cluster "${name}" was disengaged`));
    await Promise.all(this.#runners.map((runner) => runner.detach(name)));
    await cluster.cache.stop();
    if (this.#members.get(name) === cluster) this.#members.delete(name);
    this.#options.logger.info({ cluster: name }, 'cluster disengaged');
  }

  #newCluster(name: string, client: Client): EngagedCluster {
    const { logger, random = Math.random } = this.#options;
    const ofCluster = logger.child(name ? { cluster: name } : {});
    return new EngagedCluster(name, client, { clock: this.#clock, random, logger: ofCluster });
  }
}

function asRunnable(provider: ClusterProvider, engage: (name: string, client: Client) => Engagement): Runnable {
  return { name: provider.name ?? 'cluster provider', run: (signal) => provider.run(engage, signal) };
}
