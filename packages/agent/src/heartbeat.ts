import { type Client, type Clock, sleep } from '@asterism/client';
import { beat, explainHubFailure, HEARTBEAT_TIMEOUT_MS } from '@asterism/fleet/join';
import type { Logger } from '@asterism/runtime';

export interface HeartbeatOptions {
  clusterName: string;
  hub: Client;
  hubServer: string;
  /** Who beats: tells one run of an agent from another. */
  holder: string;
  intervalMs: number;
  logger: Logger;
  clock: Clock;
}

/** After so many refusals in a row the hub means it: a role that was being written is there by then. */
const REFUSALS = 3;

/** After a failure, ms, unless the interval is shorter. */
const RETRY_MS = 2_000;

/**
 * Renews the Lease until the signal aborts. A hub that is away is waited for; one that knows this agent no more makes it reject
 * with `JoinError`: nothing else that the agent does can work either.
 */
export async function keepBeating(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { clusterName, hub, hubServer, holder, intervalMs, logger, clock } = options;
  for (let refusals = 0, failing = false; !signal.aborted; ) {
    try {
      await beat(hub, clusterName, { now: clock.wall().getTime(), holder, timeoutMs: HEARTBEAT_TIMEOUT_MS, signal });
      if (failing) logger.info({}, 'the hub hears the heartbeat again');
      refusals = 0;
      failing = false;
    } catch (error) {
      if (signal.aborted) return;
      const refused = explainHubFailure(error, hubServer, 'certificate');
      refusals = refused?.code === 'CredentialRefused' ? refusals + 1 : 0;
      if (refused && refusals >= REFUSALS) throw refused;
      if (!failing)
        logger.warn({ reason: (refused ?? (error as Error)).message }, 'the hub does not hear the heartbeat');
      failing = true;
    }
    await sleep(clock, failing ? Math.min(RETRY_MS, intervalMs) : intervalMs, signal).catch(() => {});
  }
}
