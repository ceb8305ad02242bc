import type { Client, Clock, SubtreePool } from '@asterism/client';
import { type Cluster, EngagedCluster, type Engagement } from '../cluster/cluster.ts';
import { LOCAL_CLUSTER } from '../controller/reconcile.ts';
import type { Instruments } from '../instruments/instruments.ts';
import type { Logger } from '../log/logger.ts';

export interface ManagedClustersOptions {
  /** The client of the local cluster. */
  client: Client;
  clock: Clock;
  random: () => number;
  logger: Logger;
  metrics: Instruments | undefined;
  subtrees: SubtreePool;
  /** Whether this process may write to a cluster now. Undefined where nobody else could. */
  guardOf: (cluster: string) => (() => boolean) | undefined;
  /** Controllers begin to watch an engaged cluster. */
  attach: (cluster: EngagedCluster) => void;
  /** Resolves when no controller works on the cluster any more. */
  detach: (cluster: string) => Promise<void>;
}

/**
 * The clusters of a manager: the local one, companions, which no controller watches as a member, and members, which providers engage.
 * Caches start with {@link start}, and those of later clusters at once.
 */
export class ManagedClusters {
  readonly local: EngagedCluster;
  readonly #options: ManagedClustersOptions;
  readonly #companions = new Map<string, EngagedCluster>();
  readonly #members = new Map<string, EngagedCluster>();
  readonly #listeners = new Set<(cluster: Cluster) => void>();
  readonly #cachesAbort = new AbortController();
  #isStarted = false;

  constructor(options: ManagedClustersOptions) {
    this.#options = options;
    this.local = this.#newCluster(LOCAL_CLUSTER, options.client, options.guardOf(LOCAL_CLUSTER));
  }

  get members(): EngagedCluster[] {
    return [...this.#members.values()];
  }

  /** The local cluster or a member. */
  get(name: string): EngagedCluster | undefined {
    return name === LOCAL_CLUSTER ? this.local : this.#members.get(name);
  }

  addCompanion(name: string, client: Client, mayAct: (() => boolean) | undefined): Cluster {
    if (name === LOCAL_CLUSTER || this.#companions.has(name)) throw new Error(`cluster "${name}" is there already`);
    const cluster = this.#newCluster(name, client, mayAct);
    this.#companions.set(name, cluster);
    if (this.#isStarted) this.#startCache(cluster);
    return cluster;
  }

  /** Calls back for every member, and for those to come. Returns what ends that. */
  onEngage(callback: (cluster: Cluster) => void): () => void {
    for (const cluster of this.#members.values()) callback(cluster);
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  engage(name: string, client: Client): Engagement {
    if (name === LOCAL_CLUSTER) throw new Error('a member cluster needs a name');
    if (this.#members.has(name)) throw new Error(`cluster "${name}" is engaged already`);
    const cluster = this.#newCluster(name, client, this.#options.guardOf(name));
    this.#members.set(name, cluster);
    this.#startCache(cluster);
    this.#options.attach(cluster);
    try {
      for (const listener of this.#listeners) listener(cluster);
    } catch (error) {
      void this.#disengage(cluster);
      throw error;
    }
    this.#options.logger.info({ cluster: name }, 'cluster engaged');
    let disengaged: Promise<void> | undefined;
    return {
      cluster,
      replaceClient: (next) => cluster.replaceClient(next),
      disengage: () => (disengaged ??= this.#disengage(cluster)),
    };
  }

  start(): void {
    this.#isStarted = true;
    for (const cluster of [this.local, ...this.#companions.values()]) this.#startCache(cluster);
  }

  async stop(): Promise<void> {
    const clusters = [...this.#members.values(), ...this.#companions.values(), this.local];
    for (const cluster of clusters) cluster.abort(new Error('the manager stops'));
    this.#cachesAbort.abort();
    await Promise.all(clusters.map(({ cache }) => cache.stop()));
    this.#members.clear();
  }

  async #disengage(cluster: EngagedCluster): Promise<void> {
    const { name } = cluster;
    cluster.abort(new Error(`cluster "${name}" was disengaged`));
    await this.#options.detach(name);
    await cluster.cache.stop();
    if (this.#members.get(name) === cluster) this.#members.delete(name);
    this.#options.metrics?.disengaged(name);
    this.#options.logger.info({ cluster: name }, 'cluster disengaged');
  }

  #startCache({ cache }: EngagedCluster): void {
    cache.start(this.#cachesAbort.signal);
  }

  #newCluster(name: string, client: Client, mayAct: (() => boolean) | undefined): EngagedCluster {
    const { clock, random, logger, metrics, subtrees } = this.#options;
    const ofCluster = logger.child(name ? { cluster: name } : {});
    return new EngagedCluster(name, client, { clock, random, logger: ofCluster, mayAct, metrics, subtrees });
  }
}
