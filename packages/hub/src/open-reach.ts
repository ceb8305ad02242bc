import type { ApiExtension } from '@asterism/apiserver';
import { systemClock } from '@asterism/client';
import { type ClusterConnections, createClusterConnections } from '@asterism/fleet/join';
import {
  type CallersDirectory,
  createCallersDirectory,
  createReachExtension,
  type ReachLimits,
} from '@asterism/fleet/reach';
import { SearchCatalogue, searchExtension } from '@asterism/fleet/search';
import type { Logger } from '@asterism/runtime';
import type { SearchStore } from '@asterism/store';
import { createTunnelHub, type TunnelHub } from '@asterism/tunnel';
import type { DataDir } from './data-dir.ts';
import { openSearchStore } from './open-search-store.ts';

/** What stands between the hub and its members, in either form of the hub. */
export interface Reach {
  /** Ends of the members' tunnels. Drain it before the server that serves `extensions` stops. */
  tunnels: TunnelHub;
  connections: ClusterConnections;
  callers: CallersDirectory;
  /** Aborts when nobody is let through any more: after whatever is put on `parts` later has ended. */
  called: AbortSignal;
  search: { store: SearchStore; catalogue: SearchCatalogue };
  /** `proxy.asterism.dev` and `search.asterism.dev`. */
  extensions: ApiExtension[];
}

/** How long calls through a tunnel may take to end when the hub stops, ms. */
const DRAIN_MS = 1_000;

/** Where the agents' connections to this process end. */
export function openTunnels(logger: Logger): TunnelHub {
  return createTunnelHub({ logger, limits: { drainTimeoutMs: DRAIN_MS } });
}

export interface OpenReachOptions {
  dataDir: DataDir;
  tunnels: TunnelHub;
  logger: Logger;
  limits: Partial<ReachLimits> | undefined;
}

/** Opens the search store; it is closed with `parts`. */
export async function openReach(
  { dataDir, tunnels, logger, limits }: OpenReachOptions,
  parts: AsyncDisposableStack,
): Promise<Reach> {
  const connections = createClusterConnections(tunnels);
  const called = new AbortController();
  parts.defer(() => called.abort());
  const callers = createCallersDirectory(systemClock);
  const search = {
    store: parts.use(await openSearchStore(dataDir.searchDatabase, logger)),
    catalogue: new SearchCatalogue(),
  };
  const extensions = [createReachExtension({ connections, tunnels, callers, logger, limits }), searchExtension(search)];
  return { tunnels, connections, callers, called: called.signal, search, extensions };
}
