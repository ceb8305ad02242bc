// The process behind isolation.ts: a controller over all clusters that writes to each what it saw there.
import { createClient, createTransport } from '@asterism/client';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { createController, createManager, keepHeapCompact, silentLogger } from '@asterism/runtime';
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';
import { type IsolatedAnswer, monotonicMs, type ToIsolated } from './isolation.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

interface Thing extends KubeObject {
  spec: { changedAt: number };
}
const THINGS: ResourceType<Thing> = {
  group: 'bench.example',
  version: 'v1',
  resource: 'things',
  kind: 'Thing',
  namespaced: true,
};
const CONCURRENCY = 8;
/** The name of the cluster that may be away. */
const THIRD = 'cluster-2';

let seen: { changedAt: number; delayMs: number }[] = [];

async function follow(servers: readonly string[]): Promise<void> {
  keepHeapCompact(new AbortController().signal);
  const clientOf = (server: string) => {
    const credential = { kind: 'token', token: 'bench' } as const;
    return createClient({ transport: createTransport({ server, caData: AUTHORITY, credential }) });
  };
  const synced: Promise<void>[] = [];
  const engaged = Promise.withResolvers<void>();
  const manager = createManager({
    client: clientOf(servers[0] ?? ''),
    logger: silentLogger,
    providers: [
      {
        async run(engage, signal) {
          for (const [index, server] of servers.entries()) engage(`cluster-${index}`, clientOf(server));
          engaged.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
    ],
  });
  manager.onEngage(({ cache }) => void synced.push(cache.informer(THINGS).synced()));
  const controller = createController({
    name: 'isolation',
    concurrency: CONCURRENCY,
    async reconcile(request, { cluster, signal }) {
      const thing = cluster.cache.get(THINGS, request);
      if (!thing?.spec.changedAt) return;
      const { changedAt } = thing.spec;
      if (request.cluster !== THIRD) seen.push({ changedAt, delayMs: monotonicMs() - changedAt });
      const body = { metadata: { annotations: { seen: String(changedAt) } } };
      await cluster.client.resource(THINGS).patch(request, { type: 'merge', body }, { signal });
    },
  });
  manager.add(controller.for(THINGS, { clusters: 'members' }));
  manager.start(new AbortController().signal).catch((error: Error) => process.send?.({ failure: error.message }));
  await engaged.promise;
  await Promise.all(synced);
}

async function answer(asked: ToIsolated): Promise<IsolatedAnswer> {
  if ('follow' in asked) await follow(asked.follow);
  else {
    const delaysMs = seen.filter(({ changedAt }) => changedAt >= asked.since).map(({ delayMs }) => delayMs);
    seen = [];
    return { delaysMs };
  }
  return { delaysMs: [] };
}

process.on('message', (message: ToIsolated) => {
  answer(message).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ delaysMs: [] } satisfies IsolatedAnswer);
