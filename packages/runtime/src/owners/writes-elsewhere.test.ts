import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { Cluster, Engagement } from '../cluster/cluster.ts';
import { createController } from '../controller/controller.ts';
import type { InformerOptions } from '../cache/informer.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import type { ReconcileContext } from '../controller/reconcile.ts';
import { FakeApi } from '../testing/fake-api.ts';

const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };
const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const child: KubeObject = { metadata: { name: 'child', namespace: 'n', labels: { app: 'web' } } };

let main: FakeApi;
let east: FakeApi;
let abort: AbortController;
let stopped: Promise<void>;

beforeEach(async () => {
  [main, east] = await Promise.all([FakeApi.start(), FakeApi.start()]);
  abort = new AbortController();
});
afterEach(async () => {
  abort.abort();
  await stopped;
  await Promise.all([main, east].map((api) => api[Symbol.asyncDispose]()));
});

/** Runs one reconcile when the member has been read, and one after it; what the second returns is the outcome. */
async function run<T>(
  options: InformerOptions,
  { first, second }: { first: (member: Cluster) => Promise<void>; second: (context: ReconcileContext) => T },
): Promise<T> {
  main.put('/apis/apps/v1/sets', { metadata: { name: 'web', namespace: 'n' } });
  const engaging = Promise.withResolvers<Engagement>();
  const begin = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<T>();
  const manager = createManager({
    client: main.client(),
    logger: silentLogger,
    providers: [{ run: async (engage) => engaging.resolve(engage('east', east.client())) }],
  });
  let nth = 0;
  const controller = createController({
    name: 'test',
    async reconcile(_, context) {
      if (++nth > 1) return outcome.resolve(second(context));
      await begin.promise;
      await first(context.at('east') as Cluster);
      return { requeueAfter: 1 };
    },
  });
  manager.add(controller.for(SETS).watches(PODS, () => [], { clusters: 'members', ...options }));
  stopped = manager.start(abort.signal);
  const { cluster } = await engaging.promise;
  await cluster.cache.informer(PODS, options).synced();
  // The event of the write comes late: the watch is held back.
  const { response } = await east.called(({ path, watch }) => path.endsWith('/pods') && watch);
  response.cork();
  begin.resolve();
  await east.called(({ method }) => method === 'POST');
  setTimeout(() => response.uncork(), 30);
  return outcome.promise;
}

const cases: { name: string; options: InformerOptions }[] = [
  { name: 'whole', options: {} },
  { name: 'of what is labelled', options: { labelSelector: 'app=web' } },
  { name: 'of the namespace', options: { namespace: 'n' } },
];
for (const { name, options } of cases) {
  test(`what a reconcile wrote to another cluster is in its cache before the next one: a cache ${name}`, async () => {
    const found = await run(options, {
      first: async ({ client }) => void (await client.resource(PODS).create(child)),
      second: ({ at }) => at('east')?.cache.get(PODS, { namespace: 'n', name: 'child' })?.metadata?.name,
    });
    assert.equal(found, 'child');
  });
}

test('a cluster that is away by then is not waited for', async () => {
  let returned = 0;
  const began = await run(
    {},
    {
      async first({ client, health }) {
        await client.resource(PODS).create(child);
        east.fault(({ response }) => (response.destroy(), true));
        east.endWatches('reset');
        while (health() !== 'Unreachable') await new Promise(setImmediate);
        returned = performance.now();
      },
      second: () => performance.now(),
    },
  );
  assert.ok(began - returned < 2_500, `it began after ${began - returned} ms`);
});

test('a cluster that is not engaged is none', async () => {
  const none = await run(
    {},
    { first: async ({ client }) => void (await client.resource(PODS).create(child)), second: ({ at }) => at('west') },
  );
  assert.equal(none, undefined);
});
