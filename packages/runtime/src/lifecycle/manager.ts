import { type Client, type Clock, SubtreePool, systemClock } from '@asterism/client';
import type { CacheStatus } from '../cache/cache.ts';
import type { Cluster, ClusterProvider, EngagedCluster, Engagement } from '../cluster/cluster.ts';
import { type Controller, ControllerDescription } from '../controller/controller.ts';
import { ControllerRunner } from '../controller/controller-runner.ts';
import { LeaderElector, LeadershipLostError } from '../leader/leader-election.ts';
import { ManagedClusters } from './managed-clusters.ts';
import type { ManagedServer, Manager, ManagerOptions, Runnable } from './manager-contract.ts';
import { LOCAL_CLUSTER } from '../controller/reconcile.ts';
import { ClusterShares } from '../sharding/cluster-shares.ts';

export type * from './manager-contract.ts';

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
 * M5 With sharding every process starts all of that, and acts on the clusters that it holds ({@link ClusterShares}).
 *
 * @example
 * ```ts
 * const manager = createManager({ client, logger, providers: [createKubeconfigFileProvider({ paths: ['/etc/fleet'], logger })] });
 * manager.add(createController({ name: 'web', reconcile }).for(DEPLOYMENTS, { clusters: 'all' }));
 * manager.add({ name: 'hello', needsLeadership: false, run: async () => logger.info({}, 'hello') });
 * const stop = new AbortController();
 * process.once('SIGTERM', () => stop.abort());
 * await manager.start(stop.signal);
 * ```
 */
export function createManager(options: ManagerOptions): Manager {
  return new ClusterManager(options);
}

class ClusterManager implements Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #elector: LeaderElector | undefined;
  readonly #shares: ClusterShares | undefined;
  readonly #clusters: ManagedClusters;
  readonly #runners: ControllerRunner[] = [];
  readonly #runnables: Runnable[] = [];
  readonly #starting: Promise<void>[] = [];
  /** Of those, the ones that are not there yet. */
  #unready = 0;
  readonly #listening: ManagedServer[] = [];
  readonly #running = new Set<Promise<void>>();
  /** What ends with this process's hold of the local cluster. */
  readonly #localRunning = new Set<Promise<void>>();
  /** Ends runnables and providers. */
  readonly #partsAbort = new AbortController();
  readonly #electionAbort = new AbortController();
  readonly #failed = Promise.withResolvers<never>();
  readonly #started = Promise.withResolvers<void>();
  readonly #leading = Promise.withResolvers<void>();
  #election: Promise<void> | undefined;
  #state: 'new' | 'starting' | 'standby' | 'leading' | 'stopped' = 'new';

  constructor(options: ManagerOptions) {
    const { client, logger, leaderElection, sharding, metrics, random = Math.random } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#monotonic = options.monotonic ?? (() => this.#clock.monotonic());
    if (leaderElection) {
      const parts = { client, clock: this.#clock, monotonic: this.#monotonic, random, logger };
      const elector = new LeaderElector(leaderElection, parts);
      this.#elector = elector;
      metrics?.leadership(leaderElection.name, () => elector.mayAct());
    }
    if (sharding) {
      if (leaderElection) throw new TypeError('a manager has either leaderElection or sharding');
      this.#shares = new ClusterShares(sharding, {
        client,
        clock: this.#clock,
        monotonic: this.#monotonic,
        random,
        logger,
        engage: this.#engage,
        beginLocal: () => this.#beginLocal(),
        endLocal: () => this.#endLocal(),
      });
    }
    this.#clusters = new ManagedClusters({
      client,
      clock: this.#clock,
      random,
      logger,
      metrics,
      subtrees: options.subtrees ?? new SubtreePool(),
      guardOf: (cluster) => this.#guardOf(cluster),
      attach: (cluster) => this.#attachAll(cluster),
      detach: async (cluster) => {
        await Promise.all(this.#runners.map((runner) => runner.detach(cluster)));
      },
    });
    this.#failed.promise.catch(() => {}); // start() tells of it
    this.#started.promise.catch(() => {});
    this.#leading.promise.catch(() => {});
  }

  get local(): Cluster {
    return this.#clusters.local;
  }

  get leading(): Promise<void> {
    return this.#leading.promise;
  }

  cluster(name: string): EngagedCluster | undefined {
    return this.#clusters.get(name);
  }

  clusters(): Cluster[] {
    return this.#clusters.members;
  }

  addCluster(name: string, client: Client): Cluster {
    if (this.#state === 'stopped') throw new Error(`cannot add cluster "${name}": the manager was stopped`);
    const shares = this.#shares;
    return this.#clusters.addCompanion(name, client, shares ? () => shares.isPeer() : this.#guardOf(name));
  }

  onEngage(callback: (cluster: Cluster) => void): () => void {
    return this.#clusters.onEngage(callback);
  }

  add(part: Controller | Runnable): void {
    if (part instanceof ControllerDescription) {
      const { logger, metrics } = this.#options;
      const shares = this.#shares;
      const runner = new ControllerRunner(part, {
        clock: this.#clock,
        logger,
        cluster: (name) => this.cluster(name),
        mayAct: this.#mayAct,
        localTenure: shares && (() => shares.local),
        metrics,
        monotonic: this.#monotonic,
      });
      this.#runners.push(runner);
      if (this.#state === 'standby') this.#warm(runner);
      if (this.#state === 'leading') this.#startRunner(runner);
    } else if ('run' in part) {
      this.#runnables.push(part);
      const running = this.#state === 'standby' || this.#state === 'leading';
      if (running && part.needsLeadership === false) this.#run(part);
      else if (this.#state === 'leading') this.#runLeading(part);
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
    const needed = (this.#options.providers ?? []).flatMap((provider) => provider.status?.() ?? []);
    if (this.#unready > 0) needed.push(...this.#clusters.local.cache.status(), ...(this.#shares?.status() ?? []));
    const waiting = needed.filter(({ synced }) => !synced);
    return waiting.length === 0 && this.#unready > 0 ? ['controllers start'] : waiting.map(describeWaiting);
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
    this.#clusters.start();
    for (const runnable of this.#runnables.filter((each) => each.needsLeadership === false)) this.#run(runnable);
    if (this.#elector) {
      for (const runner of this.#runners) this.#warm(runner);
      this.#election = this.#elect(this.#elector);
    } else this.#lead();
    if (this.#shares) {
      this.#shares.start();
      this.#await(this.#shares.synced());
    }
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
    for (const runnable of this.#runnables.filter((each) => each.needsLeadership !== false)) this.#runLeading(runnable);
    const engage = this.#shares?.engage ?? this.#engage;
    for (const provider of this.#options.providers ?? []) this.#run(asRunnable(provider, engage));
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
    const retired = this.#shares?.retire();
    await Promise.race([Promise.all([...this.#running, ...this.#localRunning]), over]);
    await Promise.all(this.#runners.map((runner) => runner.stop(grace.signal)));
    await this.#endElection(stopped);
    await retired;
    await this.#shares?.stop(grace.signal);
    await this.#clusters.stop();
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
    this.#await(runner.warm(this.#clusters.local));
  }

  #startRunner(runner: ControllerRunner): void {
    this.#await(runner.start(this.#clusters.local));
    for (const cluster of this.#clusters.members) this.#attach(runner, cluster);
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

  #attachAll(cluster: EngagedCluster): void {
    for (const runner of this.#runners) {
      this.#attach(runner, cluster);
      if (this.#shares) runner.replay(cluster.name);
    }
  }

  /** With sharding, only while this process holds the local cluster. */
  #runLeading(runnable: Runnable): void {
    const tenure = this.#shares?.local;
    if (!this.#shares) this.#run(runnable);
    else if (tenure) this.#run(runnable, AbortSignal.any([this.#partsAbort.signal, tenure]), this.#localRunning);
  }

  #beginLocal(): void {
    for (const runner of this.#runners) runner.replay(LOCAL_CLUSTER);
    for (const runnable of this.#runnables.filter((each) => each.needsLeadership !== false)) this.#runLeading(runnable);
  }

  async #endLocal(): Promise<void> {
    await Promise.all([...this.#localRunning, ...this.#runners.map((runner) => runner.dropLocal())]);
  }

  #run(runnable: Runnable, signal = this.#partsAbort.signal, set = this.#running): void {
    const running = (async () => runnable.run(signal))().catch((cause) => {
      if (signal.aborted) return;
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#failed.reject(new Error(`${runnable.name} failed: ${message}`, { cause }));
    });
    set.add(running);
    void running.then(() => set.delete(running));
  }

  readonly #engage = (name: string, client: Client): Engagement => {
    if (this.#state !== 'leading') throw new Error(`cannot engage cluster "${name}": the manager is not running`);
    return this.#clusters.engage(name, client);
  };

  /** Undefined where nobody else could. */
  get #mayAct(): ((cluster: string) => boolean) | undefined {
    const [elector, shares] = [this.#elector, this.#shares];
    if (shares) return (cluster) => shares.mayAct(cluster);
    return elector && (() => elector.mayAct());
  }

  #guardOf(cluster: string): (() => boolean) | undefined {
    const mayAct = this.#mayAct;
    return mayAct && (() => mayAct(cluster));
  }
}

function asRunnable(provider: ClusterProvider, engage: (name: string, client: Client) => Engagement): Runnable {
  return { name: provider.name ?? 'cluster provider', run: (signal) => provider.run(engage, signal) };
}

function describeWaiting({ resource, status: { code, message } }: CacheStatus): string {
  const what = typeof code === 'number' ? `HTTP ${code}` : code;
  return [resource, ...(what === undefined ? ['no answer yet'] : [what, message])].join(': ');
}
