import type { Client } from '@asterism/client';
import { addDelivery, addPushExecutor } from '@asterism/fleet/deliver';
import {
  type ClusterConnections,
  createAccessController,
  createClusterProvider,
  createHealthController,
  createRegistrationController,
  HEARTBEAT_TIMEOUT_MS,
} from '@asterism/fleet/join';
import { addPlacement } from '@asterism/fleet/place';
import { addSearchSync, type SearchCatalogue } from '@asterism/fleet/search';
import { createManager, type Logger } from '@asterism/runtime';
import type { SearchStore } from '@asterism/store';
import type { HubTiming } from './hub-options.ts';

/** How long reconciles may take to end when the hub stops, ms. */
const GRACE_MS = 2_000;

export interface RunningControllers {
  /** Rejects when a part fails. */
  done: Promise<void>;
  stop(): Promise<void>;
}

/** Every capability of the fleet, in one manager on one client. Resolves when all of them have what they need and work. */
export async function runControllers(options: {
  client: Client;
  connections: ClusterConnections;
  search: { store: SearchStore; catalogue: SearchCatalogue };
  logger: Logger;
  timing: Partial<HubTiming>;
}): Promise<RunningControllers> {
  const { client, connections, search, logger, timing } = options;
  const manager = createManager({
    client,
    providers: [createClusterProvider(connections)],
    logger,
    graceMs: GRACE_MS,
  });
  const stopping = new AbortController();
  connections.follow(manager.local.cache, stopping.signal);
  manager.add(createRegistrationController());
  manager.add(createAccessController());
  manager.add(createHealthController({ timeoutMs: timing.heartbeatTimeoutMs ?? HEARTBEAT_TIMEOUT_MS }));
  addPlacement(manager);
  addDelivery(manager);
  addPushExecutor(manager);
  addSearchSync(manager, search.store, { catalogue: search.catalogue, logger });
  const done = manager.start(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done.catch(() => {});
  };
  try {
    await Promise.race([manager.ready(), done]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { done, stop };
}
