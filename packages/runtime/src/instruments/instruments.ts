import type { Transport } from '@asterism/client';
import type { CacheStatus } from '../cache/cache.ts';
import type { ClusterHealth } from './cluster-health.ts';

/**
 * How a reconcile ended. `error` is tried again, `terminal` is not, and a `panic` is an error that shows a mistake in the code.
 *
 * @example {@link createMetrics}
 */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal' | 'panic';

/**
 * What a queue tells of its items, by cluster.
 *
 * @example {@link createMetrics}
 */
export interface QueueInstruments {
  /** An item came in line that did not stand there. */
  added(cluster: string): void;
  /** A worker took an item that had been in line for so long. */
  taken(cluster: string, waitedMs: number): void;
  /** A worker gave it back. */
  done(cluster: string, workedMs: number): void;
  /** An item is to come (again) after a delay. */
  retried(cluster: string): void;
}

/**
 * What a controller tells.
 *
 * @example {@link createMetrics}
 */
export interface ControllerInstruments extends QueueInstruments {
  reconciled(cluster: string, outcome: ReconcileOutcome, tookMs: number): void;
  /** The signal of a reconcile aborted since it took too long; what becomes of it is told when it ends. */
  timedOut(cluster: string): void;
}

/**
 * What stands in a queue of one cluster, at a moment.
 *
 * @example {@link createMetrics}
 */
export interface QueueLoad {
  /** Items to be done now, by priority. Those that wait for their time are not counted. */
  depth: ReadonlyMap<number, number>;
  /** Items that are worked on. */
  working: number;
  /** How long those have been worked on, together. */
  unfinishedMs: number;
  /** How long the one that was taken first has been worked on. */
  longestMs: number;
}

/**
 * A controller that is measured.
 *
 * @example {@link createMetrics}
 */
export interface MeasuredController {
  name: string;
  maxConcurrentReconciles: number;
  /** By cluster; asked when the metrics are read. */
  loads(): ReadonlyMap<string, QueueLoad>;
}

/**
 * A cluster that is measured.
 *
 * @example {@link createMetrics}
 */
export interface MeasuredCluster {
  name: string;
  /** Every informer; asked when the metrics are read. */
  status(): readonly CacheStatus[];
  health(): ClusterHealth;
}

/**
 * What a webhook server tells.
 *
 * @example {@link createMetrics}
 */
export interface WebhookInstruments {
  /** A webhook was asked. To be called with the HTTP status of its answer; undefined where nobody waited for one. */
  asked(path: string): (status: number | undefined) => void;
  /** A handler failed by a mistake in its code. */
  panicked(): void;
  /** The files of the certificate were read. */
  certificateRead(isUsable: boolean): void;
}

/**
 * What a manager tells of itself while it works. `createMetrics` of `@asterism/runtime/metrics` makes of it what Prometheus
 * reads; whoever counts in another way implements this. One for each manager.
 *
 * @example {@link createMetrics}
 */
export interface Instruments {
  controller(controller: MeasuredController): ControllerInstruments;
  /** From here on there is this cluster: the local one (`''`), a companion, or a member. */
  engaged(cluster: MeasuredCluster): void;
  /** Nothing is told of it any more, and what was is to be forgotten. */
  disengaged(name: string): void;
  /** An informer listed all objects: for the first time (`initial`), of a `restored` server, or since it got this HTTP status. */
  listed(cluster: string, resource: string, reason: string): void;
  /** The same transport, whose requests are counted as those of the cluster. */
  transport(transport: Transport, cluster: string): Transport;
  /** Whether this process leads, asked when the metrics are read. `election` is the name of the Lease. */
  leadership(election: string, leads: () => boolean): void;
  /** For webhook servers beside the manager. */
  readonly webhooks: WebhookInstruments;
  /** All numbers of now, as an answer to `GET /metrics`. */
  read(): Promise<{ contentType: string; text: string }>;
}
