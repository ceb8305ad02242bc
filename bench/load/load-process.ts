// The process behind LoadGenerator: bare node:http2, which parses nothing of what it gets.
import { setTimeout as delay } from 'node:timers/promises';
import type {
  FromGenerator,
  Load,
  LoadCommand,
  LoadCommands,
  LoadResult,
  LoadTarget,
  ToGenerator,
} from './load-message.ts';
import { percentile } from '../harness/statistics.ts';
import { Http2Load } from './http2-load.ts';
import { WatchLoad } from './watch-load.ts';

const stop = (): never => process.exit(0);
process.on('disconnect', stop);
process.on('SIGINT', () => {}); // The parent decides.

let target: LoadTarget | undefined;
let requests: Http2Load | undefined;
let watches: WatchLoad | undefined;

function connected(): Http2Load {
  if (requests === undefined) throw new Error('the load generator is not connected');
  return requests;
}

async function run(load: Load, send: (index: number) => Promise<number>): Promise<LoadResult> {
  const started = performance.now();
  const until = started + load.seconds * 1000;
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  const worker = async (): Promise<void> => {
    while (next < load.most && performance.now() < until) {
      const index = next++;
      const sent = performance.now();
      const received = await send(index);
      latencies.push(performance.now() - sent);
      bytes += received;
      if (load.pauseMs !== undefined) await delay(load.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: load.concurrency }, worker));
  return {
    requests: latencies.length,
    wallMs: performance.now() - started,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    bytes,
  };
}

type Handlers = { [C in LoadCommand]: (ask: LoadCommands[C]['ask']) => Promise<LoadCommands[C]['answer']> };

const handlers: Handlers = {
  async connect({ target: to, sessions }) {
    target = to;
    requests = await Http2Load.open(to, sessions);
    return null;
  },
  run: (load) => run(load, (index) => connected().send(load, index)),
  async watch(ask) {
    if (target === undefined) throw new Error('the load generator is not connected');
    watches = await WatchLoad.open(target, ask);
    return null;
  },
  fanOut(load) {
    const heard = watches;
    if (heard === undefined) throw new Error('nobody watches');
    let events = heard.events;
    return run({ ...load, concurrency: 1 }, async (index) => {
      events += heard.watchers;
      const [bytes] = await Promise.all([connected().send(load, index), heard.until(events)]);
      return bytes;
    });
  },
  unwatch() {
    watches?.close();
    watches = undefined;
    return Promise.resolve(null);
  },
};

async function answer(message: ToGenerator): Promise<FromGenerator> {
  const handle = handlers[message.command] as (ask: ToGenerator['ask']) => Promise<unknown>;
  try {
    return { id: message.id, answer: await handle(message.ask) };
  } catch (error) {
    return { id: message.id, failure: (error as Error).message };
  }
}

process.on('message', (message: ToGenerator) => {
  void answer(message).then((result) => process.send?.(result));
});
