import { type Client, sleep, systemClock, unlessAborted } from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import { addDelivery, addPushExecutor } from '@asterism/fleet/deliver';
import {
  addHealth,
  addLeaving,
  type ClusterConnections,
  createAccessController,
  createConfigurationController,
  createClusterProvider,
  createRegistrationCleaner,
  createRegistrationController,
  createStatusSizeController,
  createRenewalController,
  hasGivenCredential,
  HEARTBEAT_TIMEOUT_MS,
  serveDirectMembers,
} from '@asterism/fleet/join';
import { addPlacement } from '@asterism/fleet/place';
import { Templates } from '@asterism/fleet/template';
import { addCallers, addMemberCallers, type CallersDirectory } from '@asterism/fleet/reach';
import { addSearchSync, type SearchCatalogue } from '@asterism/fleet/search';
import {
  type Cache,
  type Controller,
  createManager,
  createStatusServer,
  type LeaderElectionOptions,
  type Logger,
  type ManagerOptions,
  type Runnable,
} from '@asterism/runtime';
import type { SearchStore } from '@asterism/store';
import { HubError } from './hub-error.ts';
import type { HubTiming } from './hub-options.ts';
import { createKindsController } from './keep-kinds.ts';
import { startError } from './start-error.ts';

/** How long reconciles may take to end when the hub stops, ms. */
const GRACE_MS = 2_000;
/** How long a hub with damaged objects waits for its controllers, ms. */
const DAMAGED_READY_MS = 5_000;

export interface ControllersOptions {
  /** Of the API server that holds the kinds of `asterism.dev`. */
  client: Client;
  /** Of the one that holds the templates, where that is another. */
  templates?: Client | undefined;
  /** Whether that API server records who writes policies: one of the hub's own does. */
  authorsRecorded: boolean;
  connections: ClusterConnections;
  callers: CallersDirectory;
  /** Ends the ways into the members: a hub that stops is called for a while after its controllers have ended. */
  called: AbortSignal;
  search: { store: SearchStore; catalogue: SearchCatalogue };
  logger: Logger;
  timing: Partial<HubTiming>;
  /** Where several processes share that API server. */
  leaderElection?: LeaderElectionOptions | undefined;
  /** Where what they do is told: nowhere, where it is absent. */
  status?: { host: string; port: number } | undefined;
  /** What this form of the hub needs beside the capabilities of the fleet. */
  further?: readonly Controller[] | undefined;
  /** What runs whether they lead or not, with what it reads of that API server. */
  standby?: readonly ((cache: Cache) => Runnable)[] | undefined;
  /** Objects of the hub's own API server cannot be read: controllers of these kinds wait for a person, and the hub serves meanwhile. */
  isDamaged?: boolean | undefined;
  /** Ends the waiting for what they need, which an API server that is away does not give. */
  signal: AbortSignal;
}

export interface RunningControllers {
  /** Resolves when they act: at once, without an election. */
  leading: Promise<void>;
  /** Rejects when a part fails, or the leadership is lost. */
  done: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Every capability of the fleet, in one manager on one client. Resolves when all of them have what they need, and work or stand
 * by.
 */
export async function runControllers(options: ControllersOptions): Promise<RunningControllers> {
  const {
    client,
    authorsRecorded,
    connections,
    callers,
    called,
    search,
    logger,
    timing,
    leaderElection,
    status,
    further = [],
    standby = [],
    isDamaged = false,
    signal,
  } = options;
  const manager = createManager({
    client,
    providers: [createClusterProvider(connections)],
    logger,
    graceMs: GRACE_MS,
    leaderElection,
    ...(status && (await tellingOf(status))),
  });
  const elsewhere = options.templates && manager.addCluster('templates', options.templates);
  const templates = new Templates(manager.local, elsewhere);
  const stopping = new AbortController();
  connections.follow(manager.local.cache, called);
  callers.follow(manager.local.cache, { client, logger, signal: called });
  manager.add(createKindsController());
  manager.add(createRegistrationController());
  manager.add(createRegistrationCleaner());
  manager.add(createConfigurationController());
  manager.add(createStatusSizeController());
  manager.add(createRenewalController());
  manager.add(createAccessController());
  const { heartbeatTimeoutMs: timeoutMs = HEARTBEAT_TIMEOUT_MS } = timing;
  addHealth(manager, { logger, timeoutMs });
  serveDirectMembers(manager, { logger, timing: { heartbeatMs: timeoutMs / 4 } });
  addLeaving(manager);
  addPlacement(manager, { templates, rights: { authorsRecorded } });
  addDelivery(manager, { templates });
  addPushExecutor(manager);
  addCallers(manager, callers);
  const clusters = manager.local.cache.informer(CLUSTERS);
  addMemberCallers(manager, {
    accepts: (name) => {
      const cluster = clusters.store.get(name);
      // A credential that was given impersonates by rights of its own: the role would be bound to nobody.
      return cluster?.spec.syncMode === 'Push' && !hasGivenCredential(cluster);
    },
  });
  addSearchSync(manager, search.store, { catalogue: search.catalogue, logger });
  for (const controller of further) manager.add(controller);
  for (const open of standby) manager.add(open(manager.local.cache));
  const done = manager.start(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done.catch(() => {});
  };
  try {
    const ready = isDamaged ? readyOrPatient(manager.ready(), logger) : manager.ready();
    await unlessAborted(Promise.race([ready, done]), signal);
  } catch (error) {
    await stop();
    throw status ? statusError(error, status) : error;
  }
  return { leading: manager.leading, done, stop };
}

/**
 * Resolves when the controllers are ready, or after a while: those that need a damaged object are only ready when a person deletes it,
 * for which the hub must serve.
 */
async function readyOrPatient(ready: Promise<void>, logger: Logger): Promise<void> {
  const ending = new AbortController();
  const late = sleep(systemClock, DAMAGED_READY_MS, ending.signal).then(() => {
    logger.error({}, 'controllers wait for damaged objects that this log names: the hub serves without them');
  });
  try {
    await Promise.race([ready, late]);
  } finally {
    ending.abort();
    late.catch(() => {});
  }
}

/** Loaded where it is asked for: it costs 22 MB. */
async function tellingOf(status: { host: string; port: number }): Promise<Pick<ManagerOptions, 'metrics' | 'servers'>> {
  const { createMetrics } = await import('@asterism/runtime/metrics');
  const metrics = createMetrics();
  return { metrics, servers: [createStatusServer({ ...status, metrics })] };
}

/** An address that cannot be listened on is the cause of the manager's error. */
function statusError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { cause } = error as Error;
  const explained = startError(cause, { host, port, dataDir: '', flag: '--status-listen' });
  return explained instanceof HubError ? explained : error;
}
