import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuOf, rssOf } from '../harness/cpu-of.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { SOURCE_FLAGS } from './source-flags.ts';

const SERVER = new URL('./watch-server-process.ts', import.meta.url);
const CLIENT = new URL('./watch-client-process.ts', import.meta.url);
/** What the start left is collected within 10 s of its end. */
const SETTLE_MS = 12_000;
const OPEN_MS = 60_000;
const POLL_MS = 100;
/** Of all watches together, in each round. */
const EVENTS = 80_000;
const ROUNDS = 3;

export type Library = 'ours' | 'theirs';
export interface ToOpen {
  who: Library;
  url: string;
  clusters: number;
  kinds: number;
}
export type ToClient = { load: Library } | { open: ToOpen } | { until: number };
export interface ClientAnswer {
  /** Events so far. */
  seen: number;
}
/** So many to each watch. */
export interface ToServer {
  send: number;
}
export interface ServerAnswer {
  url: string;
  /** Open ones. */
  watches: number;
}

export interface WatchCosts {
  watches: number;
  /** Of a watch: what the process grew by, the libraries being loaded. */
  bytesEach: number;
  /** For each second of the process's CPU, of each round. */
  eventsPerSecond: number[];
}

/** What so many watches, of `kinds` in each of `clusters`, cost the process that holds them. */
export async function measureWatches(
  who: Library,
  { clusters, kinds }: { clusters: number; kinds: number },
  signal: AbortSignal,
): Promise<WatchCosts> {
  await using server = await startServer(signal);
  await using client = await ServedProcess.start<ToClient, ClientAnswer>(CLIENT, signal, { flags: SOURCE_FLAGS });
  const watches = clusters * kinds;
  await client.ask({ load: who });
  await delay(SETTLE_MS, undefined, { signal });
  const before = rssOf([client.pid]);
  await client.ask({ open: { who, url: server.url, clusters, kinds } });
  await server.untilOpen(watches);
  await delay(SETTLE_MS, undefined, { signal });
  const bytesEach = (rssOf([client.pid]) - before) / watches;
  const each = Math.ceil(EVENTS / watches);
  const eventsPerSecond: number[] = [];
  // The first round compiles.
  for (let round = 0; round <= ROUNDS; round++) {
    const { cpuMs } = await cpuOf([client.pid], async () => {
      const seen = client.ask({ until: watches * each * (round + 1) });
      await server.send(each);
      await seen;
    });
    if (round > 0) eventsPerSecond.push((watches * each * 1000) / cpuMs);
  }
  return { watches, bytesEach, eventsPerSecond };
}

async function startServer(signal: AbortSignal) {
  const child = fork(fileURLToPath(SERVER), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: SOURCE_FLAGS,
    signal,
  });
  child.on('error', () => {}); // Also that it was aborted: `ask` rejects with it.
  const next = async (): Promise<ServerAnswer> => ((await once(child, 'message', { signal })) as [ServerAnswer])[0];
  const { url } = await next();
  const send = async (events: number): Promise<ServerAnswer> => {
    child.send({ send: events } satisfies ToServer);
    return await next();
  };
  return {
    url,
    send,
    /** Resolves when so many watches are open. */
    async untilOpen(watches: number): Promise<void> {
      for (const end = performance.now() + OPEN_MS; (await send(0)).watches < watches; ) {
        if (performance.now() > end) throw new Error(`not all of ${watches} watches were opened in ${OPEN_MS} ms`);
        await delay(POLL_MS, undefined, { signal });
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
