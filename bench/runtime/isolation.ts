import { setTimeout as delay } from 'node:timers/promises';
import { interleave } from '../harness/interleave.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { percentile } from '../harness/statistics.ts';
import { SOURCE_FLAGS } from './source-flags.ts';

const SERVER = new URL('./isolation-server-process.ts', import.meta.url);
const CLIENT = new URL('./isolation-client-process.ts', import.meta.url);
const ROUNDS = 5;
/** Requests are on their way by then. */
const BEFORE_MS = 300;
const ROUND_MS = 4_000;
/** In which the third comes back, and is caught up with. */
const AFTER_MS = 1_500;
const PER_SECOND = 200;

/** How the third cluster is. */
export type Third = 'well' | 'frozen' | 'killed';

/** `listen`: on that port, or any; `send`: so many events a second from now on. */
export type ToIsolationServer = { listen: number } | { send: number };
export interface IsolationServerAnswer {
  port: number;
}
export type ToIsolated = { follow: readonly string[] } | { since: number };
export interface IsolatedAnswer {
  /** From each event to the start of its reconcile, of the first two clusters. */
  delaysMs: readonly number[];
}

type Server = ServedProcess<ToIsolationServer, IsolationServerAnswer>;

/** The p99 of the others' delays from an event to its reconcile, of every round, by how a third cluster was. */
export async function measureIsolation(signal: AbortSignal): Promise<Record<Third, number[]>> {
  await using servers = new AsyncDisposableStack();
  const start = async (port = 0): Promise<{ server: Server; port: number }> => {
    const server: Server = servers.use(await ServedProcess.start(SERVER, signal, { flags: SOURCE_FLAGS }));
    return { server, ...(await server.ask({ listen: port })) };
  };
  const others = [await start(), await start()];
  let third = await start();
  await using client = await ServedProcess.start<ToIsolated, IsolatedAnswer>(CLIENT, signal, { flags: SOURCE_FLAGS });
  await client.ask({ follow: [...others, third].map(({ port }) => `https://127.0.0.1:${port}`) });
  const all = (): Server[] => [...others, third].map(({ server }) => server);
  const ends: Record<Third, { begin: () => void; end: () => Promise<unknown> | void }> = {
    well: { begin: () => {}, end: () => {} },
    frozen: {
      begin: () => process.kill(third.server.pid, 'SIGSTOP'),
      end: () => void process.kill(third.server.pid, 'SIGCONT'),
    },
    killed: {
      begin: () => process.kill(third.server.pid, 'SIGKILL'),
      end: async () => (third = await start(third.port)),
    },
  };
  const round = async (how: Third): Promise<number> => {
    await Promise.all(all().map((server) => server.ask({ send: PER_SECOND })));
    await delay(BEFORE_MS, undefined, { signal });
    ends[how].begin();
    const since = monotonicMs();
    await delay(ROUND_MS, undefined, { signal });
    const { delaysMs } = await client.ask({ since });
    await ends[how].end();
    await Promise.all(all().map((server) => server.ask({ send: 0 })));
    await delay(AFTER_MS, undefined, { signal });
    return percentile(delaysMs, 99);
  };
  const subjects = { well: () => round('well'), frozen: () => round('frozen'), killed: () => round('killed') };
  return await interleave(subjects, { rounds: ROUNDS, warmUp: 1, signal });
}

/** The same in all processes of a machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
