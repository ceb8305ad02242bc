import type { LeaderElectionTiming } from '../leader/leader-election.ts';

/**
 * Times in milliseconds, of every Lease: one of each process, one of each cluster.
 *
 * @example {@link ShardingOptions}
 */
export interface ShardingTiming extends LeaderElectionTiming {
  /** For how long after its last renewal a Lease protects its holder. Whole seconds. Default 20,000. */
  leaseDurationMs?: number | undefined;
  /** After how long without a renewal a process stops acting on a cluster by itself. Default 15,000. */
  renewDeadlineMs?: number | undefined;
  /** How often Leases are renewed. Default 5,000. */
  retryPeriodMs?: number | undefined;
  /**
   * How long a cluster that nobody holds is left to the process that it falls to, before the next in line takes it: that one may
   * not have heard of it. Default 10,000.
   */
  yieldMs?: number | undefined;
}

/**
 * How several processes share a manager's clusters.
 *
 * @example
 * ```ts
 * const sharding = { namespace: 'my-system', name: 'my-operator', identity: `${hostname()}_${randomUUID()}` };
 * const manager = createManager({ client, logger, providers, sharding });
 * ```
 */
export interface ShardingOptions extends ShardingTiming {
  /** Of the Leases, in the local cluster; it must exist. */
  namespace: string;
  /** What the processes have in common: the Leases' names begin with it. A DNS label of at most 40 characters. */
  name: string;
  /** Who this process is. Another for each process, also on one machine. */
  identity: string;
}

export const SHARDING_TIMES = {
  leaseDurationMs: 20_000,
  renewDeadlineMs: 15_000,
  retryPeriodMs: 5_000,
  yieldMs: 10_000,
};
