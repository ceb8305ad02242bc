// The process behind sync.ts: a manager that follows the pods of many clusters, and how it fares until it knows all of them.
import { createClient, createTransport } from '@asterism/client';
import { PODS } from '@asterism/machinery';
import { createManager, keepHeapCompact, silentLogger } from '@asterism/runtime';
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';
import type { Synced, ToSync } from './sync.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

/** How often a timer looks, and so how little counts as a block. */
const LOOK_MS = 1;

/** Measures for how long timers had to wait for this thread's own work: CPU time, as others may have had the machine meanwhile. */
class BlockProbe implements Disposable {
  #last = this.#cpuMs;
  #longest = 0;
  readonly #timer = setInterval(() => this.#look(), LOOK_MS);

  get longestMs(): number {
    this.#look();
    return this.#longest;
  }

  #look(): void {
    const now = this.#cpuMs;
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  get #cpuMs(): number {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function sync({ url, clusters, objectsEach }: ToSync): Promise<Synced> {
  const stop = new AbortController();
  keepHeapCompact(stop.signal);
  const clientOf = (cluster: number) => {
    const credential = { kind: 'token', token: `bench-${cluster}` } as const;
    return createClient({ transport: createTransport({ server: url, caData: AUTHORITY, credential }) });
  };
  const stores: { size: number }[] = [];
  const synced: Promise<void>[] = [];
  const engaged = Promise.withResolvers<void>();
  const manager = createManager({
    client: clientOf(0),
    logger: silentLogger,
    providers: [
      {
        async run(engage, signal) {
          for (let cluster = 0; cluster < clusters; cluster++) {
            engage(`cluster-${cluster}`, clientOf(cluster));
            await new Promise(setImmediate); // As a provider that reads a file for each.
          }
          engaged.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
    ],
  });
  manager.onEngage(({ cache }) => {
    const informer = cache.informer(PODS);
    stores.push(informer.store);
    synced.push(informer.synced());
  });
  using probe = new BlockProbe();
  const began = performance.now();
  manager.start(stop.signal).catch((error: Error) => process.send?.({ failure: error.message }));
  await engaged.promise;
  await Promise.all(synced);
  const seconds = (performance.now() - began) / 1000;
  const blockMs = probe.longestMs;
  const stored = stores.reduce((sum, { size }) => sum + size, 0);
  if (stored !== clusters * objectsEach) throw new Error(`${stored} objects were stored`);
  return { seconds, peakBytes: process.resourceUsage().maxRSS * 1024, blockMs };
}

process.on('message', (asked: ToSync) => {
  sync(asked).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ seconds: 0, peakBytes: 0, blockMs: 0 } satisfies Synced);
