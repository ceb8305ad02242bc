import { setTimeout as delay } from 'node:timers/promises';
import { rssOf } from '../harness/cpu-of.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { SOURCE_FLAGS } from './source-flags.ts';

const SERVER = new URL('./sync-server-process.ts', import.meta.url);
const CLIENT = new URL('./sync-client-process.ts', import.meta.url);
/** What the lists left is collected in the first idle second. */
const SETTLE_MS = 6_000;
const LOOK_MS = 1_000;

export const CLUSTERS = 100;
export const OBJECTS_EACH = 1_000;

/** `stream`: the servers send lists over watches; `pages`: they do not. */
export type ListsBy = 'stream' | 'pages';

export interface ToSyncServer {
  lists: ListsBy;
  clusters: number;
  objectsEach: number;
}
export interface SyncServerAnswer {
  url: string;
}
export interface ToSync {
  url: string;
  clusters: number;
  objectsEach: number;
}
export interface Synced {
  seconds: number;
  /** The most that was ever resident, in bytes. */
  peakBytes: number;
  /** The longest time for which the event loop served nobody. */
  blockMs: number;
}

export interface SyncCosts extends Synced {
  steadyBytes: number;
}

/** What the first list of all clusters costs a process that follows them. */
export async function measureSync(lists: ListsBy, signal: AbortSignal): Promise<SyncCosts> {
  const many = { clusters: CLUSTERS, objectsEach: OBJECTS_EACH };
  await using server = await ServedProcess.start<ToSyncServer, SyncServerAnswer>(SERVER, signal, {
    flags: SOURCE_FLAGS,
  });
  await using client = await ServedProcess.start<ToSync, Synced>(CLIENT, signal, { flags: SOURCE_FLAGS });
  const { url } = await server.ask({ lists, ...many });
  const synced = await client.ask({ url, ...many });
  return { ...synced, steadyBytes: await steady(client.pid, signal) };
}

/** The least that is resident once nothing happens any more. */
async function steady(pid: number, signal: AbortSignal): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (const end = performance.now() + SETTLE_MS; performance.now() < end; ) {
    await delay(LOOK_MS, undefined, { signal });
    least = Math.min(least, rssOf([pid]));
  }
  return least;
}
