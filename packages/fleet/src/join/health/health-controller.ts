import { type Clock, systemClock } from '@asterism/client';
import { isStatusError, LEASES } from '@asterism/machinery';
import {
  type Controller,
  createController,
  type Logger,
  type Manager,
  type Reconcile,
  type ReconcileContext,
} from '@asterism/runtime';
import { CLUSTERS, clusterNamespace, clusterOfNamespace, HEARTBEAT_LEASE } from '../../api/index.ts';
import { attend } from './attend.ts';
import { AttendedTime } from './attended-time.ts';
import { clusterHealth, type Heartbeat, type Pulse, takePulse } from './decide-health.ts';

/** As Kubernetes gives a node. */
export const HEARTBEAT_TIMEOUT_MS = 40_000;

/** Between two proofs that heartbeats can be heard, ms; less where the timeout is short. */
const ATTEND_MS = 2_000;
/** How long such a proof may take, ms; likewise. */
const ATTEND_PATIENCE_MS = 5_000;
/** After which a last look that failed is taken again, ms. */
const LAST_LOOK_RETRY_MS = 1_000;

export interface HealthOptions {
  logger: Logger;
  timeoutMs?: number | undefined;
  clock?: Clock | undefined;
  /** Ms of a clock that nobody sets. */
  monotonic?: (() => number) | undefined;
}

/**
 * Watches the agents' Leases. A cluster that is silent becomes `Ready=Unknown` and gets the unreachable taint; one that is
 * heard again loses the taint, and its agent sets `Ready` itself. Silence is counted in attended time (decision 0013).
 */
export function addHealth(manager: Manager, options: HealthOptions): void {
  const { logger, timeoutMs = HEARTBEAT_TIMEOUT_MS, clock = systemClock, monotonic = performanceNow } = options;
  const intervalMs = Math.min(ATTEND_MS, timeoutMs / 8);
  const patienceMs = Math.min(ATTEND_PATIENCE_MS, timeoutMs / 4);
  const time = new AttendedTime(intervalMs + patienceMs);
  manager.add({
    name: 'attended-time',
    async run(signal) {
      const { client, cache } = manager.local;
      const clusters = cache.informer(CLUSTERS);
      const anyCluster = (): string | undefined => clusters.store.list()[0]?.metadata.name;
      await attend({ client, time, anyCluster, intervalMs, patienceMs, clock, monotonic, logger }, signal);
      clusters.release();
    },
  });
  manager.add(healthController(new Pulses(time, timeoutMs), clock));
}

/** What was seen of each cluster's heartbeat by this run of the hub. */
class Pulses {
  readonly #heartbeats = new Map<string, Heartbeat>();
  readonly #time: AttendedTime;
  readonly #timeoutMs: number;

  constructor(time: AttendedTime, timeoutMs: number) {
    this.#time = time;
    this.#timeoutMs = timeoutMs;
  }

  take(name: string, renewTime: string | undefined): Pulse {
    const { heartbeat, pulse } = takePulse(this.#heartbeats.get(name), renewTime, this.#timeoutMs, this.#time.ms);
    this.#heartbeats.set(name, heartbeat);
    return pulse;
  }

  forget(name: string): void {
    this.#heartbeats.delete(name);
  }
}

function healthController(pulses: Pulses, clock: Clock): Controller {
  const reconcile: Reconcile = async ({ name }, context) => {
    const { client, cache } = context.cluster;
    const { signal, logger } = context;
    const cluster = cache.get(CLUSTERS, { name });
    if (!cluster) {
      pulses.forget(name);
      return;
    }
    const lease = cache.get(LEASES, { namespace: clusterNamespace(name), name: HEARTBEAT_LEASE });
    let pulse = pulses.take(name, lease?.spec?.renewTime);
    let change = clusterHealth(cluster, pulse, clock.wall().getTime());
    if (change.status) {
      const seen = await lastLook(name, context);
      if (seen === 'unreadable') return { requeueAfter: LAST_LOOK_RETRY_MS };
      pulse = pulses.take(name, seen.renewTime);
      change = clusterHealth(cluster, pulse, clock.wall().getTime());
    }
    if (change.status) {
      await client.resource(CLUSTERS).update(change.status, { subresource: 'status', signal });
      logger.warn({ member: name }, 'the agent is silent: Ready is Unknown');
      return; // The event of this write brings the cluster back here, for its taints.
    }
    if (change.spec) {
      const taints = change.spec.spec.taints?.map((taint) => taint.key) ?? [];
      logger.info({ member: name, taints }, 'the taints of a cluster change with its health');
      await client.resource(CLUSTERS).update(change.spec, { signal });
    }
    return pulse.state === 'Silent' ? undefined : { requeueAfter: pulse.checkInMs };
  };
  return createController({ name: 'cluster-health', concurrency: 4, reconcile })
    .for(CLUSTERS)
    .watches(
      LEASES,
      (lease) => {
        const name = clusterOfNamespace(lease.metadata?.namespace ?? '');
        return name === undefined ? [] : [{ cluster: '', name }];
      },
      { fieldSelector: `metadata.name=${HEARTBEAT_LEASE}` },
    );
}

const performanceNow = (): number => performance.now();

/** What the Lease says now, not in a cache whose watch may be behind: nobody is called silent by hearsay. */
async function lastLook(
  name: string,
  { cluster: { client }, signal }: ReconcileContext,
): Promise<{ renewTime: string | undefined } | 'unreadable'> {
  try {
    const lease = await client
      .resource(LEASES)
      .get({ namespace: clusterNamespace(name), name: HEARTBEAT_LEASE }, { signal });
    return { renewTime: lease.spec?.renewTime };
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return { renewTime: undefined };
    if (signal.aborted) throw error;
    return 'unreadable';
  }
}
