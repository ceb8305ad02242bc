import type { Client } from '@asterism/client';
import { LEASES } from '@asterism/machinery';
import { type CacheStatus, InformerCache } from '../cache/cache.ts';
import type { Engagement } from '../cluster/cluster.ts';
import type { ElectorParts } from '../leader/leader-election.ts';
import type { Informer } from '../cache/informer.ts';
import { LOCAL_CLUSTER } from '../controller/reconcile.ts';
import { OfferedCluster } from './offered-cluster.ts';
import { SHARDING_LABEL } from './shard-leases.ts';
import { ShardCoordinator } from './shard-coordinator.ts';
import type { ShardingOptions } from './sharding-options.ts';

export interface ClusterSharesParts extends ElectorParts {
  /** Takes a member cluster in; what it returns ends that. */
  engage: (name: string, client: Client) => Engagement;
  /** The local cluster's requests are this process's until {@link ClusterShares.local} aborts. */
  beginLocal: () => void;
  /** After that; resolves when nothing works on them. */
  endLocal: () => Promise<void>;
}

/** What a manager does with sharding: only clusters that this process holds are engaged. */
export class ClusterShares {
  readonly #parts: ClusterSharesParts;
  readonly #coordinator: ShardCoordinator;
  readonly #leases: InformerCache;
  readonly #informer: Informer;
  readonly #offered = new Map<string, OfferedCluster>();
  readonly #abort = new AbortController();
  #local: AbortController | undefined;

  constructor(options: ShardingOptions, parts: ClusterSharesParts) {
    const { namespace, name } = options;
    this.#parts = parts;
    this.#leases = new InformerCache(parts.client, parts);
    const informer = this.#leases.informer(LEASES, { namespace, labelSelector: `${SHARDING_LABEL}=${name}` });
    this.#informer = informer;
    this.#coordinator = new ShardCoordinator(options, { ...parts, informer });
  }

  start(): void {
    this.#leases.start(this.#abort.signal);
    this.#coordinator.start();
    this.#coordinator.offer(LOCAL_CLUSTER, {
      begin: () => {
        this.#local = new AbortController();
        this.#parts.beginLocal();
      },
      end: async (reason) => {
        this.#local?.abort(reason);
        this.#local = undefined;
        await this.#parts.endLocal();
      },
    });
  }

  /** Aborts when the local cluster's requests are no more this process's; undefined while they are not. */
  get local(): AbortSignal | undefined {
    return this.#local?.signal;
  }

  /** Resolves when the others are known; before that no cluster is taken. Rejects when it is stopped. */
  synced(): Promise<void> {
    return this.#informer.synced();
  }

  /** What {@link synced} hangs on. */
  status(): CacheStatus[] {
    return this.#leases.status();
  }

  mayAct(cluster: string): boolean {
    return this.#coordinator.mayAct(cluster);
  }

  isPeer(): boolean {
    return this.#coordinator.isPeer();
  }

  /** For providers, in place of a manager's own. */
  readonly engage = (name: string, client: Client): Engagement => {
    if (name === LOCAL_CLUSTER) throw new Error('a member cluster needs a name');
    if (this.#offered.has(name)) throw new Error(`cluster "${name}" is engaged already`);
    const cluster = new OfferedCluster(name, client, () => this.mayAct(name));
    this.#offered.set(name, cluster);
    this.#coordinator.offer(name, { begin: () => this.#begin(cluster), end: () => cluster.end() });
    let disengaged: Promise<void> | undefined;
    return {
      cluster,
      replaceClient: (next) => cluster.replaceClient(next),
      disengage: () => (disengaged ??= this.#disengage(cluster)),
    };
  };

  /** Takes no more clusters; what is held stays so, and is guarded, until {@link stop}. */
  retire(): Promise<void> {
    return this.#coordinator.retire();
  }

  /** When nothing works on any cluster any more, or when it has had its `grace`. */
  async stop(grace: AbortSignal): Promise<void> {
    await this.#coordinator.stop(grace);
    for (const cluster of this.#offered.values()) cluster.abort(new Error('the manager stops'));
    this.#offered.clear();
    this.#abort.abort();
    await this.#leases.stop();
  }

  #begin(cluster: OfferedCluster): void {
    try {
      cluster.begin(this.#parts.engage);
    } catch (error) {
      // It is held all the same: the next process would fail as this one does.
      const fields = { err: error, cluster: cluster.name };
      this.#parts.logger.error(fields, `nothing works on the cluster: ${(error as Error).message}`);
    }
  }

  async #disengage(cluster: OfferedCluster): Promise<void> {
    cluster.abort(new Error(`cluster "${cluster.name}" was disengaged`));
    await this.#coordinator.withdraw(cluster.name);
    if (this.#offered.get(cluster.name) === cluster) this.#offered.delete(cluster.name);
  }
}
