import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, createClient, createTransport, readBody } from '@asterism/client';
import { memberProxyPath } from '@asterism/fleet/api';
import { parseJson } from '@asterism/machinery';
import { COMPACT_HEAP_ENVIRONMENT } from '@asterism/runtime';
import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { readOwnUsage } from '../harness/process-usage.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { SOURCE_FLAGS } from '../runtime/source-flags.ts';

const AGENTS = 1_000;
const PROCESSES = 2;
/** In which what the joining needed is given back: the API server remembers changes for five minutes. */
const SETTLE_MS = 6 * 60_000;
const IDLE_MS = 60_000;
const ASKED_AT_ONCE = 32;

const figures = {
  joined: { name: `${AGENTS} agents with keys of their own: from the first to the last that is ready`, unit: 's' },
  memory: {
    name: 'resident memory of the hub for an idle agent, beyond its sockets on a bare TLS server that carried as much',
    unit: 'KB',
    goal: { of: 'value', atMost: 40 },
  },
  bare: { name: 'those sockets on the bare server', unit: 'KB' },
  sockets: { name: 'sockets of an agent', unit: '' },
  idle: {
    name: `CPU of the hub with ${AGENTS} idle agents, heartbeats on`,
    unit: '% of a core',
    goal: { of: 'value', atMost: 20 },
  },
  restart: {
    name: 'from a kill -9 of the hub and its start until every member has answered a call with its own uid',
    unit: 's',
    goal: { of: 'value', atMost: 60 },
  },
} as const satisfies Record<string, FigureSpec>;

type Context = BenchContext<keyof typeof figures>;

export interface ToHub {
  ask: 'token' | 'sockets';
}
export interface HubAnswer {
  token?: string;
  sockets?: SocketUse[];
}
/** Bytes that a connection to the hub has carried. */
export interface SocketUse {
  received: number;
  sent: number;
}
interface HubStarted {
  url: string;
  caPin: string;
  admin: Connection;
}
export interface ToAgents {
  server: string;
  ca: string;
  token: string;
  prefix: string;
  count: number;
}
export interface AgentsAnswer {
  /** Of the `kube-system` of each member, by the name of its cluster. */
  uids: Record<string, string>;
}

/** Many agents at one hub: what they cost when nothing happens, and how soon all are back. */
export const fleetBench = defineBench<keyof typeof figures>({
  name: 'fleet',
  summary: `${AGENTS} agents at one hub: memory and CPU when idle, back after a restart`,
  minutes: 25,
  figures,
  async run(context) {
    await using parts = new AsyncDisposableStack();
    const { report, progress, signal } = context;
    const folder = await mkdtemp(join(tmpdir(), 'asterism-bench-fleet-'));
    parts.defer(() => rm(folder, { recursive: true, force: true }));
    const hub = await startHub(folder, 0, signal);
    parts.use(hub.process);
    const { token = '' } = await hub.process.ask({ ask: 'token' });
    const emptyBytes = readOwnUsage(hub.process.pid).rssBytes;
    progress(`${AGENTS} agents join`);
    const began = performance.now();
    const uids = await joinAgents(context, { server: hub.url, ca: hub.caPin, token }, parts);
    report('joined', { values: [(performance.now() - began) / 1000] });
    await reachAll(hub.admin, uids, signal);
    progress('at rest');
    await delay(SETTLE_MS, undefined, { signal });
    const port = Number(new URL(hub.url).port);
    const before = readOwnUsage(hub.process.pid);
    await delay(IDLE_MS, undefined, { signal });
    const after = readOwnUsage(hub.process.pid);
    report('idle', { values: [((after.cpuMs - before.cpuMs) / IDLE_MS) * 100] });
    const { sockets = [] } = await hub.process.ask({ ask: 'sockets' });
    report('sockets', { values: [sockets.length / AGENTS] });
    progress(`a bare server of ${sockets.length} sockets`);
    const bareBytes = await bareServer(sockets, signal);
    report('bare', { values: [bareBytes / AGENTS / 1000] });
    report('memory', { values: [(after.rssBytes - emptyBytes - bareBytes) / AGENTS / 1000] });
    progress('the hub is killed');
    process.kill(hub.process.pid, 'SIGKILL');
    const killed = performance.now();
    const again = await startHub(folder, port, signal);
    parts.use(again.process);
    await reachAll(again.admin, uids, signal);
    report('restart', { values: [(performance.now() - killed) / 1000] });
  },
});

export async function startHub(folder: string, port: number, signal: AbortSignal) {
  let started: HubStarted | undefined;
  const hub = await ServedProcess.start<ToHub, HubAnswer>(new URL('./hub-process.ts', import.meta.url), signal, {
    flags: SOURCE_FLAGS,
    environment: COMPACT_HEAP_ENVIRONMENT,
    args: [folder, String(port)],
    onFirst: (answer) => (started = answer as HubStarted),
  });
  return { process: hub, ...(started as HubStarted) };
}

async function joinAgents(
  { signal }: Context,
  hub: Pick<ToAgents, 'server' | 'ca' | 'token'>,
  parts: AsyncDisposableStack,
): Promise<Map<string, string>> {
  const count = AGENTS / PROCESSES;
  const found = await Promise.all(
    Array.from({ length: PROCESSES }, async (_, index) => {
      const entry = new URL('./agents-process.ts', import.meta.url);
      const agents = parts.use(
        await ServedProcess.start<ToAgents, AgentsAnswer>(entry, signal, { flags: SOURCE_FLAGS }),
      );
      return (await agents.ask({ ...hub, prefix: `edge-${index}`, count })).uids;
    }),
  );
  return new Map(found.flatMap((uids) => Object.entries(uids)));
}

/** Resolves when every member has answered with its own uid; one that cannot be reached yet is asked again. */
async function reachAll(admin: Connection, uids: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
  await using transport = createTransport(admin);
  const client = createClient({ transport });
  const left = [...uids];
  const ask = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) {
      const [name, uid] = next;
      const path = `${memberProxyPath(name)}/api/v1/namespaces/kube-system`;
      const text = await client
        .request({ method: 'GET', path, signal })
        .then(async ({ status, body }) => [status, (await readBody(body, path)).toString()] as const)
        .catch(() => [0, ''] as const);
      if (text[0] === 200) {
        const { metadata } = parseJson(text[1]) as { metadata: { uid: string } };
        if (metadata.uid !== uid) throw new Error(`${name} answered with the uid of another: ${metadata.uid}`);
        continue;
      }
      left.unshift(next);
      await delay(50, undefined, { signal });
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
}

/** What as many connections that have carried as much, and on which nothing goes on, add to a bare TLS server. */
async function bareServer(uses: readonly SocketUse[], signal: AbortSignal): Promise<number> {
  await using parts = new AsyncDisposableStack();
  const entry = new URL('./sockets-process.ts', import.meta.url);
  let port = 0;
  const server = parts.use(
    await ServedProcess.start<object, object>(entry, signal, {
      flags: SOURCE_FLAGS,
      environment: COMPACT_HEAP_ENVIRONMENT,
      onFirst: (answer) => (port = (answer as { port: number }).port),
    }),
  );
  await server.ask({});
  const before = readOwnUsage(server.pid).rssBytes;
  const connections = parts.use(
    await ServedProcess.start<{ uses: readonly SocketUse[] }, object>(entry, signal, {
      flags: SOURCE_FLAGS,
      args: [String(port)],
    }),
  );
  await connections.ask({ uses });
  await server.ask({});
  return readOwnUsage(server.pid).rssBytes - before;
}
