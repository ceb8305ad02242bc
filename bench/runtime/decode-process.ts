// The process behind decode.ts: fills a cache with what a watch brings, in one way or another, and says what that costs.
import { Readable } from 'node:stream';
import { createClient, type Transport, type TransportRequest, type TransportResponse } from '@asterism/client';
import { type KubeObject, PODS } from '@asterism/machinery';
import { createManager, silentLogger } from '@asterism/runtime';
import type { Filled, ToFill } from './decode.ts';
import { syntheticMix } from './synthetic-mix.ts';
import { syntheticPod } from './synthetic-pod.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const CHUNK = 64 * 1024;
const END = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { resourceVersion: '9000000', annotations: { 'k8s.io/initial-events-end': 'true' } },
};

/** The chunks of a watch that brings all of a set: whole, or metadata alone as a server sends it. */
function watchOf({ set, objects }: ToFill, metadataOnly: boolean): Buffer[] {
  const make = set === 'pods' ? syntheticPod : syntheticMix;
  const lines = Array.from({ length: objects }, (_, index) => {
    const whole = make(index);
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: whole.metadata };
    return Buffer.from(`${JSON.stringify({ type: 'ADDED', object: metadataOnly ? partial : whole })}\n`);
  });
  const all = Buffer.concat([...lines, Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: END })}\n`)]);
  return Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, index) =>
    all.subarray(index * CHUNK, (index + 1) * CHUNK),
  );
}

/** Answers a watch with the chunks, and never ends it; knows nothing else. */
function replaying(chunks: readonly Buffer[]): Transport {
  const request = ({ long, signal }: TransportRequest): Promise<TransportResponse> => {
    if (!long) return Promise.resolve({ status: 404, headers: {}, body: Readable.from([]) });
    const left = chunks.values();
    const body = new Readable({
      read() {
        const { value } = left.next();
        if (value !== undefined) this.push(value);
      },
    });
    signal?.addEventListener('abort', () => body.destroy());
    return Promise.resolve({ status: 200, headers: {}, body });
  };
  return {
    request,
    upgrade: () => Promise.reject(new Error('no upgrade here')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** With `JSON.parse`, and nothing else but what a store is for: the yardstick. */
function parseAll(chunks: readonly Buffer[]): Map<string, KubeObject> {
  const store = new Map<string, KubeObject>();
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const { object } = JSON.parse(bytes.toString('utf8', start, end)) as { object: KubeObject };
      store.set(`${object.metadata?.namespace}/${object.metadata?.name}`, object);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  return store;
}

function memoryOf(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Of a cache that nobody holds any more nothing is left, so the difference is what it held. */
async function measure(
  objects: number,
  fill: () => Promise<{ size: number; drop: () => Promise<void> }>,
): Promise<Filled> {
  memoryOf();
  const before = process.cpuUsage();
  const { size, drop } = await fill();
  const { user, system } = process.cpuUsage(before);
  if (size < objects) throw new Error(`${size} of ${objects} objects were stored`);
  const full = memoryOf();
  await drop();
  await new Promise(setImmediate);
  return { cpuMs: (user + system) / 1000, bytes: full - memoryOf() };
}

async function fillCache(
  chunks: readonly Buffer[],
  metadataOnly: boolean,
): Promise<{ size: number; drop: () => Promise<void> }> {
  const stop = new AbortController();
  const client = createClient({ transport: replaying(chunks) });
  const manager = createManager({ client, logger: silentLogger });
  const informer = manager.local.cache.informer(PODS, { metadataOnly });
  const running = manager.start(stop.signal);
  await informer.synced();
  const drop = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { size: informer.store.size, drop };
}

async function answer(asked: ToFill): Promise<Filled> {
  const metadataOnly = asked.how === 'metadata';
  const chunks = watchOf(asked, metadataOnly);
  if (asked.how !== 'parse') return await measure(asked.objects, () => fillCache(chunks, metadataOnly));
  return await measure(asked.objects, () => {
    let store: Map<string, KubeObject> | undefined = parseAll(chunks);
    const drop = (): Promise<void> => {
      store = undefined;
      return Promise.resolve();
    };
    return Promise.resolve({ size: store.size, drop: () => (store === undefined ? Promise.resolve() : drop()) });
  });
}

process.on('message', (message: ToFill) => {
  answer(message).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ cpuMs: 0, bytes: 0 });
