import { randomUUID } from 'node:crypto';
import { ClientError, type Clock, sleep, systemClock } from '@asterism/client';
import type { Cluster as EngagedCluster, Logger, Manager } from '@asterism/runtime';
import { type Cluster, CLUSTERS } from '../../api/index.ts';
import { shareCredential } from '../connect/share-credential.ts';
import { HEARTBEAT_TIMEOUT_MS } from '../health/health-controller.ts';
import { beat } from '../health/heartbeat.ts';
import { StatusReporter } from '../health/report-status.ts';
import { hasGivenCredential } from './has-given-credential.ts';
import { isWithoutAgent } from './is-without-agent.ts';
import { DIRECT_TOKEN_SECONDS } from './join-direct.ts';

export interface DirectMembersOptions {
  logger: Logger;
  clock?: Clock | undefined;
  timing?: Partial<DirectTiming> | undefined;
}

/** All in milliseconds; as an agent's. */
export interface DirectTiming {
  heartbeatMs: number;
  statusMs: number;
  statusPauseMs: number;
  statusSettleMs: number;
}

const TIMING: DirectTiming = {
  heartbeatMs: 10_000,
  statusMs: 5 * 60_000,
  statusPauseMs: 10_000,
  statusSettleMs: 1_000,
};

/** How long a member may take to answer at all, ms. */
const ANSWER_MS = 10_000;

/**
 * Does for members without an agent what an agent does in Push: says that they are alive and how they are, and renews the hub's
 * token there. For the hub that leads.
 *
 * A heartbeat is sent only where the member answered, so that a member that is gone is told as one whose agent is silent.
 */
export function serveDirectMembers(manager: Manager, options: DirectMembersOptions): void {
  const { logger, clock = systemClock } = options;
  const timing = { ...TIMING, ...options.timing };
  const clusters = manager.local.cache.informer(CLUSTERS);
  manager.add({
    name: 'direct-members',
    run: async (signal) => {
      const stop = manager.onEngage((member) => {
        const cluster = clusters.store.get(member.name);
        if (!cluster || !isWithoutAgent(cluster)) return;
        const until = AbortSignal.any([signal, member.signal]);
        const own = { manager, member, logger: logger.child({ member: member.name }), clock, timing };
        void serve(cluster, own, until).catch((error: unknown) => {
          if (!until.aborted)
            logger.error({ err: error, member: member.name }, 'a member without an agent is not served');
        });
      });
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      stop();
    },
  });
}

interface Serving {
  manager: Manager;
  member: EngagedCluster;
  logger: Logger;
  clock: Clock;
  timing: DirectTiming;
}

async function serve(cluster: Cluster, serving: Serving, signal: AbortSignal): Promise<void> {
  const { manager, member, logger, clock, timing } = serving;
  const { name: clusterName } = member;
  const reporter = new StatusReporter({
    clusterName,
    member,
    hub: manager.local,
    logger,
    clock,
    readinessMs: timing.heartbeatMs,
    statusMs: timing.statusMs,
    pauseMs: timing.statusPauseMs,
    settleMs: timing.statusSettleMs,
    acting: hasGivenCredential(cluster) ? undefined : { syncMode: 'Push', self: true },
    asker: 'the hub',
    tellsNoAnswer: false,
  });
  const share = { clusterName, member: member.client, hub: manager.local.client, logger, clock };
  await Promise.all([
    keepBeatingFor(serving, signal),
    reporter.run(signal),
    hasGivenCredential(cluster) ? undefined : shareCredential({ ...share, lifeSeconds: DIRECT_TOKEN_SECONDS }, signal),
  ]);
}

async function keepBeatingFor({ manager, member, logger, clock, timing }: Serving, signal: AbortSignal): Promise<void> {
  const holder = `hub-${randomUUID()}`;
  while (!signal.aborted) {
    try {
      if (await answers(member, signal)) {
        const now = clock.wall().getTime();
        await beat(manager.local.client, member.name, { now, holder, timeoutMs: HEARTBEAT_TIMEOUT_MS, signal });
      }
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ err: error }, 'the heartbeat of a member without an agent could not be written');
    }
    await sleep(clock, timing.heartbeatMs, signal).catch(() => {});
  }
}

/** Any answer is one: what it says is for the status to tell. */
async function answers({ client }: EngagedCluster, signal: AbortSignal): Promise<boolean> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const { body } = await client.request({ method: 'GET', path: '/readyz', signal: limit });
    body.destroy();
    return true;
  } catch (error) {
    if (limit.aborted || error instanceof ClientError) return false;
    throw error;
  }
}
