import { type Client, type Clock, SubtreePool, systemClock } from '@asterism/client';
import type { CacheStatus } from './cache.ts';
import { type Cluster, type ClusterProvider, EngagedCluster, type Engagement } from './cluster.ts';
import { type Controller, ControllerDescription } from './controller.ts';
import { ControllerRunner } from './controller-runner.ts';
import { type LeaderElectionOptions, LeaderElector, LeadershipLostError } from './leader-election.ts';
import type { Logger } from './logger.ts';
import type { Instruments } from './metrics/instruments.ts';
import { LOCAL_CLUSTER } from './reconcile.ts';

export interface ManagerOptions {
  /** Of the local cluster. */
  client: Client;
  providers?: readonly ClusterProvider[] | undefined;
  logger: Logger;
  /**
   * Of several processes that share this Lease, one acts. Its loss ends the manager: `start` rejects with
   * `LeadershipLostError`, and the process should exit. Without it this process acts at once.
   */
  leaderElection?: LeaderElectionOptions | undefined;
  /** Told of all that the manager does. `createMetrics` of `@asterism/runtime/metrics` makes one for Prometheus. */
  metrics?: Instruments | undefined;
  /** Started first, in this order, and stopped last: for metrics and probes (`createStatusServer`), for webhooks. */
  servers?: readonly ManagedServer[] | undefined;
  clock?: Clock | undefined;
  /** Milliseconds that nobody sets, for leader election and durations. Default `performance.now`. */
  monotonic?: (() => number) | undefined;
  random?: (() => number) | undefined;
  /** What equal parts of cached objects are shared by. One for all managers of a process saves most; default one for this. */
  subtrees?: SubtreePool | undefined;
  /** How long running reconciles may take to end. Default 30 s. */
  graceMs?: number | undefined;
}

/** Anything that runs for as long as the manager does. */
export interface Runnable {
  readonly name: string;
  /** False: it runs in a standby process too, where the clusters' clients refuse to write. Default true. */
  readonly needsLeadership?: boolean;
  /** Returning early is fine; throwing stops the manager. */
  run(signal: AbortSignal): Promise<void>;
}

/** What answers others for as long as a manager lives, from before its caches start to after they have stopped. */
export interface ManagedServer {
  readonly name: string;
  /** Resolves when it listens; rejecting ends the manager. */
  start(manager: Manager, logger: Logger): Promise<void>;
  stop(): Promise<void>;
}

export interface Manager {
  readonly local: Cluster;
  /** Local (`''`) or engaged. */
  cluster(name: string): Cluster | undefined;
  /** The engaged ones, without the local one. */
  clusters(): Cluster[];
  /**
   * Another API server that controllers read and write, whose cache starts and stops with the local one. It is no member: it
   * is not among {@link clusters}, and no request names it. Throws where the name is taken.
   */
  addCluster(name: string, client: Client): Cluster;
  /** Calls back for each engaged cluster, now and later; its `signal` tells when it goes. Returns what ends that. */
  onEngage(callback: (cluster: Cluster) => void): () => void;
  /** Before the start or after it. */
  add(part: Controller | Runnable): void;
  /** Resolves after a clean stop; rejects when a part fails, after the others have been stopped. */
  start(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when every controller has the local caches that it needs; it then works, or, in a standby, could at once. Member
   * clusters are not waited for.
   */
  ready(): Promise<void>;
  /**
   * What {@link ready} waits for, in words for people: each local informer that has not listed yet, with the HTTP status or
   * code that it hangs on. Empty when it is ready.
   */
  whyNotReady(): string[];
  /** Resolves when this process leads: after the start, where there is no election. Rejects when it stops before. */
  readonly leading: Promise<void>;
}

const GRACE_MS = 30_000;

/**
 * Runs controllers over a local cluster and those that providers engage.
 *
 * M1 Start: servers, then caches, then controllers (each when its caches are there), then runnables and providers.
 * M2 Stop: providers and runnables, then controllers (what runs may end, for `graceMs`), then the leadership is released, then
 *    caches, then servers.
 * M3 What a part does while a cluster is slow or dead concerns that cluster alone.
 * M4 A standby fills the local caches; controllers, runnables and providers begin when it leads, and the clusters' clients
 *    write only while it leads. When the leadership is lost, nothing is given the grace to end.
 */
export function createManager(options: ManagerOptions): Manager {
  return new ClusterManager(options);
}

class ClusterManager implements Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #subtrees: SubtreePool;
  readonly #monotonic: () => number;
  readonly #elector: LeaderElector | undefined;
  readonly #local: EngagedCluster;
  readonly #companions = new Map<string, EngagedCluster>();
  readonly #members = new Map<string, EngagedCluster>();
  readonly #runners: ControllerRunner[] = [];
  readonly #runnables: Runnable[] = [];
  readonly #engageListeners = new Set<(cluster: Cluster) => void>();
  readonly #starting: Promise<void>[] = [];
  /** Of those, the ones that are not there yet. */
  #unready = 0;
  readonly #listening: ManagedServer[] = [];
  readonly #running: Promise<void>[] = [];
  /** Ends runnables and providers. */
  readonly #partsAbort = new AbortController();
  readonly #cachesAbort = new AbortController();
  readonly #electionAbort = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #started = Promise.withResolvers<void>();
  readonly #leading = Promise.withResolvers<void>();
  #election: Promise<void> | undefined;
  #state: 'new' | 'starting' | 'standby' | 'leading' | 'stopped' = 'new';

  constructor(options: ManagerOptions) {
    const { client, logger, leaderElection, metrics, random = Math.random } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#subtrees = options.subtrees ?? new SubtreePool();
    this.#monotonic = options.monotonic ?? (() => performance.now());
    if (leaderElection) {
      const parts = { client, clock: this.#clock, monotonic: this.#monotonic, random, logger };
      const elector = new LeaderElector(leaderElection, parts);
      this.#elector = elector;
      metrics?.leadership(leaderElection.name, () => elector.mayAct());
    }
    this.#local = this.#newCluster(LOCAL_CLUSTER, client);
    this.#failed.promise.catch(() => {}); // start() tells of it
    this.#started.promise.catch(() => {});
    this.#leading.promise.catch(() => {});
  }

  get local(): Cluster {
    return this.#local;
  }

  get leading(): Promise<void> {
    return this.#leading.promise;
  }

  cluster(name: string): EngagedCluster | undefined {
    return name === LOCAL_CLUSTER ? this.#local : this.#members.get(name);
  }

  clusters(): Cluster[] {
    return [...this.#members.values()];
  }

  addCluster(name: string, client: Client): Cluster {
    if (this.#state === 'stopped') throw new Error(`cannot add cluster "${name}": the manager was stopped`);
    if (name === LOCAL_CLUSTER || this.#companions.has(name)) throw new Error(`cluster "${name}" is there already`);
    const cluster = this.#newCluster(name, client);
    this.#companions.set(name, cluster);
    if (this.#state === 'standby' || this.#state === 'leading') cluster.cache.start(this.#cachesAbort.signal);
    return cluster;
  }

  onEngage(callback: (cluster: Cluster) => void): () => void {
    this.#engageListeners.add(callback);
    for (const cluster of this.#members.values()) callback(cluster);
    return () => this.#engageListeners.delete(callback);
  }

  add(part: Controller | Runnable): void {
    if (part instanceof ControllerDescription) {
      const { logger, metrics } = this.#options;
      const runner = new ControllerRunner(part, {
        clock: this.#clock,
        logger,
        cluster: (name) => this.cluster(name),
        mayAct: this.#mayAct,
        metrics,
        monotonic: this.#monotonic,
      });
      this.#runners.push(runner);
      if (this.#state === 'standby') this.#warm(runner);
      if (this.#state === 'leading') this.#startRunner(runner);
    } else if ('run' in part) {
      this.#runnables.push(part);
      if (this.#state === 'leading' || (this.#state === 'standby' && part.needsLeadership === false)) this.#run(part);
    } else {
      throw new TypeError(`${part.name} is neither a controller of createController nor a runnable`);
    }
  }

  async ready(): Promise<void> {
    await Promise.race([this.#started.promise, this.#failed.promise]);
    await Promise.race([Promise.all(this.#starting), this.#failed.promise]);
  }

  whyNotReady(): string[] {
    if (this.#state === 'stopped') return ['the manager stops'];
    if (this.#state === 'new' || this.#state === 'starting') return ['the manager has not started'];
    if (this.#unready === 0) return [];
    const waiting = this.#local.cache.status().filter(({ synced }) => !synced);
    return waiting.length === 0 ? ['controllers start'] : waiting.map(describeWaiting);
  }

  async start(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new Error('this manager was started already');
    this.#state = 'starting';
    const stopAsked = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    try {
      for (const server of this.#options.servers ?? []) await this.#listen(server);
      this.#begin();
      await Promise.race([stopAsked, this.#failed.promise]);
    } catch (error) {
      this.#failed.reject(error);
      await this.#stop(error instanceof LeadershipLostError ? 0 : this.#options.graceMs);
      throw error;
    }
    await this.#stop(this.#options.graceMs);
  }

  async #listen(server: ManagedServer): Promise<void> {
    try {
      await server.start(this, this.#options.logger);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${server.name} failed to start: ${message}`, { cause });
    }
    this.#listening.unshift(server);
  }

  #begin(): void {
    this.#state = 'standby';
    for (const { cache } of [this.#local, ...this.#companions.values()]) cache.start(this.#cachesAbort.signal);
    for (const runnable of this.#runnables.filter((each) => each.needsLeadership === false)) this.#run(runnable);
    if (this.#elector) {
      for (const runner of this.#runners) this.#warm(runner);
      this.#election = this.#elect(this.#elector);
    } else this.#lead();
    this.#started.resolve();
  }

  async #elect(elector: LeaderElector): Promise<void> {
    const { signal } = this.#electionAbort;
    try {
      await elector.campaign(signal);
    } catch {
      return; // It stops, and never led.
    }
    const kept = elector.keep(signal).catch((error) => this.#failed.reject(error));
    try {
      await this.#options.leaderElection?.onElected?.(signal);
      if (this.#state === 'standby') this.#lead();
    } catch (error) {
      if (!signal.aborted) this.#failed.reject(error);
    }
    await kept;
  }

  #lead(): void {
    this.#state = 'leading';
    for (const runner of this.#runners) this.#startRunner(runner);
    for (const runnable of this.#runnables.filter((each) => each.needsLeadership !== false)) this.#run(runnable);
    for (const provider of this.#options.providers ?? []) this.#run(asRunnable(provider, this.#engage));
    this.#leading.resolve();
  }

  async #stop(graceMs = GRACE_MS): Promise<void> {
    const stopped = new Error('the manager was stopped');
    const led = this.#state === 'leading';
    this.#state = 'stopped';
    if (!led) this.#electionAbort.abort(stopped);
    const grace = new AbortController();
    const over = new Promise<void>((resolve) => grace.signal.addEventListener('abort', () => resolve()));
    const cancelTimer = graceMs > 0 ? this.#clock.setTimer(() => grace.abort(), graceMs) : grace.abort();
    this.#partsAbort.abort(new Error('the manager stops'));
    await Promise.race([Promise.allSettled(this.#running), over]);
    await Promise.all(this.#runners.map((runner) => runner.stop(grace.signal)));
    await this.#endElection(stopped);
    const clusters = [...this.#members.values(), ...this.#companions.values(), this.#local];
    for (const cluster of clusters) cluster.abort(new Error('the manager stops'));
    this.#cachesAbort.abort();
    await Promise.all(clusters.map(({ cache }) => cache.stop()));
    this.#members.clear();
    for (const server of this.#listening) {
      await server.stop().catch((err) => this.#options.logger.error({ err }, `${server.name} did not stop`));
    }
    this.#failed.reject(stopped);
    this.#leading.reject(stopped);
    cancelTimer?.();
  }

  /** Nothing acts any more: until here the Lease was renewed. */
  async #endElection(reason: Error): Promise<void> {
    this.#electionAbort.abort(reason);
    await this.#election;
    await this.#elector?.release();
  }

  #warm(runner: ControllerRunner): void {
    this.#await(runner.warm(this.#local));
  }

  #startRunner(runner: ControllerRunner): void {
    this.#await(runner.start(this.#local));
    for (const cluster of this.#members.values()) this.#attach(runner, cluster);
  }

  /** Until then the manager is not ready; it fails with it. */
  #await(starting: Promise<void>): void {
    this.#starting.push(starting);
    this.#unready++;
    starting.then(
      () => this.#unready--,
      (error) => this.#failed.reject(error),
    );
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
    if (this.#state !== 'leading') throw new Error(`cannot engage cluster "${name}": the manager is not running`);
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
    this.#options.metrics?.disengaged(name);
    this.#options.logger.info({ cluster: name }, 'cluster disengaged');
  }

  #newCluster(name: string, client: Client): EngagedCluster {
    const { logger, metrics, random = Math.random } = this.#options;
    const ofCluster = logger.child(name ? { cluster: name } : {});
    const subtrees = this.#subtrees;
    const parts = { clock: this.#clock, random, logger: ofCluster, mayAct: this.#mayAct, metrics, subtrees };
    return new EngagedCluster(name, client, parts);
  }

  /** Undefined where nobody else could. */
  get #mayAct(): (() => boolean) | undefined {
    const elector = this.#elector;
    return elector && (() => elector.mayAct());
  }
}

function asRunnable(provider: ClusterProvider, engage: (name: string, client: Client) => Engagement): Runnable {
  return { name: provider.name ?? 'cluster provider', run: (signal) => provider.run(engage, signal) };
}

function describeWaiting({ resource, status: { code, message } }: CacheStatus): string {
  const what = typeof code === 'number' ? `HTTP ${code}` : code;
  return [resource, ...(what === undefined ? ['no answer yet'] : [what, message])].join(': ');
}
