import type { Client, Clock, SubtreePool } from '@asterism/client';
import type { Cluster, ClusterProvider } from '../cluster/cluster.ts';
import type { Controller } from '../controller/controller.ts';
import type { LeaderElectionOptions } from '../leader/leader-election.ts';
import type { Logger } from '../log/logger.ts';
import type { Instruments } from '../instruments/instruments.ts';
import type { ShardingOptions } from '../sharding/sharding-options.ts';

/**
 * What a manager runs with.
 *
 * @example {@link createManager}
 */
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
  /**
   * Several processes share the clusters, the local one among them: each is acted on by one process. Providers are to tell all of
   * them of the same clusters. Not together with `leaderElection`.
   */
  sharding?: ShardingOptions | undefined;
  /** Told of all that the manager does. `createMetrics` of `@asterism/runtime/metrics` makes one for Prometheus. */
  metrics?: Instruments | undefined;
  /** Started first, in this order, and stopped last: for metrics and probes (`createStatusServer`), for webhooks. */
  servers?: readonly ManagedServer[] | undefined;
  clock?: Clock | undefined;
  /** For leader election and durations. Default: the monotonic time of `clock`. */
  monotonic?: (() => number) | undefined;
  random?: (() => number) | undefined;
  /** What equal parts of cached objects are shared by. One for all managers of a process saves most; default one for this. */
  subtrees?: SubtreePool | undefined;
  /** How long running reconciles may take to end. Default 30 s. */
  graceMs?: number | undefined;
}

/**
 * Anything that runs for as long as the manager does.
 *
 * @example {@link createManager}
 */
export interface Runnable {
  readonly name: string;
  /**
   * False: it runs in a standby process too, where the clusters' clients refuse to write. Default true. With sharding, whoever
   * holds the local cluster leads, and may come to do so several times.
   */
  readonly needsLeadership?: boolean;
  /** Returning early is fine; throwing stops the manager. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * What answers others for as long as a manager lives, from before its caches start to after they have stopped.
 *
 * @example {@link createStatusServer}
 */
export interface ManagedServer {
  readonly name: string;
  /** Resolves when it listens; rejecting ends the manager. */
  start(manager: Manager, logger: Logger): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs controllers, and what else is added to it, over a local cluster and those that providers engage.
 *
 * @example {@link createManager}
 */
export interface Manager {
  readonly local: Cluster;
  /** Local (`''`) or engaged. */
  cluster(name: string): Cluster | undefined;
  /** The engaged ones, without the local one. With sharding: those that this process holds. */
  clusters(): Cluster[];
  /**
   * Another API server that controllers read and write, whose cache starts and stops with the local one. It is no member: it
   * is not among {@link clusters}, and no request names it. Throws where the name is taken.
   */
  addCluster(name: string, client: Client): Cluster;
  /**
   * Calls back for each engaged cluster, now and later; its `signal` tells when it goes. Returns what ends that. A cluster for which
   * a callback throws is not engaged: its provider is told.
   */
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
   * code that it hangs on, and what providers of clusters have not listed yet. Empty when it is ready.
   */
  whyNotReady(): string[];
  /**
   * Resolves when this process leads: after the start, where there is no election, and with sharding. Rejects when it stops
   * before.
   */
  readonly leading: Promise<void>;
}
