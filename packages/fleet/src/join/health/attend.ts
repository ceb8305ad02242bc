import { type Client, type Clock, sleep } from '@asterism/client';
import { isStatusError, LEASES } from '@asterism/machinery';
import type { Logger } from '@asterism/runtime';
import { clusterNamespace, HEARTBEAT_LEASE } from '../../api/index.ts';
import type { AttendedTime } from './attended-time.ts';

export interface AttendOptions {
  /** Of the API server where agents renew their Leases. */
  client: Client;
  time: AttendedTime;
  /** Some Cluster; undefined while there is none to hear. */
  anyCluster: () => string | undefined;
  /** Between two proofs, ms. */
  intervalMs: number;
  /** How long one may take, ms. */
  patienceMs: number;
  clock: Clock;
  /** Ms of a clock that nobody sets. */
  monotonic: () => number;
  logger: Logger;
}

/**
 * Proves again and again, until the signal aborts, that heartbeats could be heard: reads a Lease, which an API server asks of
 * its store each time. One that is not there is an answer too.
 */
export async function attend(options: AttendOptions, signal: AbortSignal): Promise<void> {
  const { time, anyCluster, intervalMs, clock, monotonic, logger } = options;
  for (let deaf = false; !signal.aborted; ) {
    const name = anyCluster();
    try {
      if (name !== undefined) await readLease(name, options, signal);
      time.heard(monotonic());
      if (deaf) logger.info({}, 'heartbeats can be heard again: the silence of clusters counts from here on');
      deaf = false;
    } catch (error) {
      if (signal.aborted) return;
      time.deaf();
      if (!deaf) {
        const reason = (error as Error).message;
        logger.warn({ reason }, 'no heartbeat can be heard: meanwhile the silence of clusters does not count');
      }
      deaf = true;
    }
    await sleep(clock, intervalMs, signal).catch(() => {});
  }
}

async function readLease(cluster: string, { client, clock, patienceMs }: AttendOptions, signal: AbortSignal) {
  const patience = new AbortController();
  const cancel = clock.setTimer(() => patience.abort(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  try {
    const ref = { namespace: clusterNamespace(cluster), name: HEARTBEAT_LEASE };
    await client.resource(LEASES).get(ref, { signal: AbortSignal.any([signal, patience.signal]) });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  } finally {
    cancel();
  }
}
