import { randomUUID } from 'node:crypto';
import { type Client, type Clock, type Connection, createTransport } from '@asterism/client';
import { CLUSTERS, clusterNamespace } from '@asterism/fleet/api';
import { addPullExecutor } from '@asterism/fleet/deliver';
import { JoinError, shareCredential, StatusReporter, takeOutOnLeave } from '@asterism/fleet/join';
import { addMemberCallers, type ReachMode, runReachAgent, stricterMode } from '@asterism/fleet/reach';
import {
  type Cluster,
  type ClusterProvider,
  createManager,
  type Logger,
  type Manager,
  type Runnable,
} from '@asterism/runtime';
import { createTunnelCounters, type TunnelCounters } from '@asterism/tunnel';
import type { AgentOptions, AgentTiming } from './agent-options.ts';
import { keepBeating } from './heartbeat.ts';
import { type CertifiedHub, keepCertificate } from './keep-certificate.ts';

export interface ServeHubOptions {
  agent: AgentOptions;
  hub: Client;
  /** The same, whose certificate is renewed. */
  certified: CertifiedHub;
  member: Client;
  version: string;
  timing: AgentTiming;
  logger: Logger;
  clock: Clock;
  /** Told once: status, way in and (Pull) executor work. */
  onReady: () => void;
}

/**
 * Everything that an agent does once it has joined. Its manager lives with the hub, of which it reads its own objects alone, and
 * has one member: this cluster. Resolves after the signal aborts; rejects with `JoinError` when the hub knows it no more.
 */
export async function serveHub(options: ServeHubOptions, signal: AbortSignal): Promise<void> {
  const { agent, hub, member, logger, clock, onReady } = options;
  const engaged = Promise.withResolvers<Cluster>();
  const manager = createManager({
    client: hub,
    providers: [ownCluster(agent.clusterName, member, engaged.resolve)],
    logger,
    clock,
    graceMs: GRACE_MS,
  });
  const reported = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  manager.add(heartbeat(options));
  manager.add(certificate(options));
  const counters = agent.syncMode === 'Push' ? undefined : createTunnelCounters();
  manager.add(status(options, { manager, engaged: engaged.promise, counters, onFirst: reported.resolve }));
  if (!counters) {
    manager.add(credential(options, open.resolve));
  } else {
    manager.add(tunnel(options, { manager, counters, onOpen: open.resolve }));
    addPullExecutor(manager, { clusterName: agent.clusterName });
    manager.add(leave(options, manager));
    addMemberCallers(manager, {
      accepts: (name) => name === agent.clusterName,
      namespace: clusterNamespace(agent.clusterName),
    });
  }
  void Promise.all([reported.promise, open.promise, manager.ready()]).then(onReady, () => {});
  await manager.start(signal).catch((error: Error) => {
    throw error.cause instanceof JoinError ? error.cause : error;
  });
}

/** How long reconciles may take to end when the agent stops, ms. */
const GRACE_MS = 2_000;

function ownCluster(name: string, member: Client, onEngaged: (cluster: Cluster) => void): ClusterProvider {
  return {
    name: 'own cluster',
    async run(engage, signal) {
      onEngaged(engage(name, member).cluster);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}

function heartbeat({ agent, hub, timing, logger, clock }: ServeHubOptions): Runnable {
  const { clusterName } = agent;
  const holder = `agent-${randomUUID()}`;
  const beat = { clusterName, hub, hubServer: agent.hub.server, holder, intervalMs: timing.heartbeatMs, logger, clock };
  return { name: 'cluster-heartbeat', run: (signal) => keepBeating(beat, signal) };
}

function certificate({ agent, certified, member, logger, clock }: ServeHubOptions): Runnable {
  const keep = { clusterName: agent.clusterName, hub: certified, member, logger, clock };
  return { name: 'agent-certificate', run: (signal) => keepCertificate(keep, signal) };
}

interface StatusParts {
  manager: Manager;
  engaged: Promise<Cluster>;
  /** Of the tunnel, where there is one. */
  counters: TunnelCounters | undefined;
  onFirst: () => void;
}

function status(options: ServeHubOptions, { manager, engaged, counters, onFirst }: StatusParts): Runnable {
  const { agent, version, timing, logger, clock } = options;
  return {
    name: 'cluster-status',
    run: async (signal) =>
      new StatusReporter({
        clusterName: agent.clusterName,
        agentVersion: version,
        acting: { syncMode: agent.syncMode, self: agent.syncMode !== 'Push' },
        member: await engaged,
        hub: manager.local,
        logger,
        clock,
        readinessMs: timing.heartbeatMs,
        statusMs: timing.statusMs,
        pauseMs: timing.statusPauseMs,
        settleMs: timing.statusSettleMs,
        ...(counters ? { roundTripMs: () => counters.roundTripMs } : {}),
        onFirst,
      }).run(signal),
  };
}

function credential({ agent, hub, member, logger, clock }: ServeHubOptions, onFirst: () => void): Runnable {
  const isRefused = (token: string, signal: AbortSignal): Promise<boolean> => refuses(agent.member, token, signal);
  const share = { clusterName: agent.clusterName, member, hub, logger, clock, onFirst, isRefused };
  return { name: 'hub-credential', run: (signal) => shareCredential(share, signal) };
}

/** Whether a server answers 401 to a token. Each call has a connection of its own. */
async function refuses(server: Connection, token: string, signal: AbortSignal): Promise<boolean> {
  await using transport = createTransport({ ...server, credential: { kind: 'token', token } });
  const { status, body } = await transport.request({ method: 'GET', path: '/readyz', signal });
  body.destroy();
  return status === 401;
}

function leave({ agent, member, logger, clock }: ServeHubOptions, manager: Manager): Runnable {
  const options = { clusterName: agent.clusterName, hub: manager.local, member, logger, clock };
  return { name: 'leave', run: (signal) => takeOutOnLeave(options, signal) };
}

/** Opened once it is known what callers may do here: the hub's word on the Cluster, or a stricter one of this agent's. */
function tunnel(
  { agent, hub, member, logger, clock }: ServeHubOptions,
  { manager, counters, onOpen }: { manager: Manager; counters: TunnelCounters; onOpen: () => void },
): Runnable {
  const { clusterName, syncMode, destinations } = agent;
  const onStateChange = ({ state }: { state: string }): void => {
    if (state === 'connected') onOpen();
  };
  const own = manager.local.cache.informer(CLUSTERS, { fieldSelector: `metadata.name=${clusterName}` });
  const mode = (): ReachMode => stricterMode(own.store.get(clusterName)?.spec.reach?.mode, agent.reachMode);
  const target = { member: member.transport, destinations };
  const reach = { clusterName, syncMode, hub, ...target, mode, logger, clock, counters, onStateChange };
  return {
    name: 'tunnel',
    run: async (signal) => {
      await own.synced(signal).catch(() => {});
      if (!signal.aborted) await runReachAgent(reach, signal);
    },
  };
}
