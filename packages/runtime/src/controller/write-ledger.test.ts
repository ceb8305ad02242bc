import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import type { Engagement } from '../cluster/cluster.ts';
import { createController } from './controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import { FakeApi } from '../testing/fake-api.ts';

const SETS: ResourceType = { group: 'apps', version: 'v1', resource: 'sets', kind: 'Set', namespaced: true };
const ALL_SETS = '/apis/apps/v1/sets';
const set = (name: string): KubeObject => ({ metadata: { name, namespace: 'n' } });
const labelled = (name: string): KubeObject => ({ metadata: { name, namespace: 'n', labels: { seen: 'yes' } } });

let main: FakeApi;
let east: FakeApi;
let engagement: Engagement;
let reconciles: EventEmitter;
/** The label that each reconcile saw, by cluster and name. */
let seen: string[];
let abort: AbortController;
let stopped: Promise<void>;

/** One worker. An object of east is labelled by its first reconcile, of which its watch does not hear for now. */
beforeEach(async () => {
  [main, east] = await Promise.all([FakeApi.start(), FakeApi.start()]);
  abort = new AbortController();
  [seen, reconciles] = [[], new EventEmitter()];
  east.put(ALL_SETS, set('a'));
  const engaging = Promise.withResolvers<Engagement>();
  const manager = createManager({
    client: main.client(),
    logger: silentLogger,
    providers: [{ run: async (engage) => engaging.resolve(engage('east', east.client())) }],
  });
  const ready = Promise.withResolvers<void>();
  const controller = createController({
    name: 'test',
    async reconcile({ cluster: where, namespace, name }, { cluster }) {
      await ready.promise;
      const label = cluster.cache.get(SETS, { namespace, name })?.metadata?.labels?.['seen'];
      seen.push(`${where}/${name} ${label}`);
      reconciles.emit('one');
      if (where !== 'east' || label) return;
      await cluster.client.resource(SETS).update(labelled(name));
      return { requeueAfter: 1 };
    },
  });
  manager.add(controller.for(SETS, { clusters: 'all' }));
  stopped = manager.start(abort.signal);
  engagement = await engaging.promise;
  await engagement.cluster.cache.informer(SETS).synced();
  const { response } = await east.called(({ watch }) => watch);
  response.cork();
  reconciles.once('thaw', () => response.uncork());
  ready.resolve();
  await east.called(({ method }) => method === 'PUT');
});
afterEach(async () => {
  abort.abort();
  await stopped;
  await Promise.all([main, east].map((api) => api[Symbol.asyncDispose]()));
});

async function saw(what: string): Promise<void> {
  while (!seen.includes(what)) await once(reconciles, 'one');
}

describe('a request whose last writes the cache has not seen', { timeout: 4_000 }, () => {
  test('holds no worker, and is reconciled when it has seen them', async () => {
    for (const name of ['b', 'c']) {
      main.put(ALL_SETS, set(name));
      await saw(`/${name} undefined`);
    }
    assert.deepEqual(
      seen.filter((each) => each.startsWith('east')),
      ['east/a undefined'],
    );
    reconciles.emit('thaw');
    await saw('east/a yes');
  });

  test('goes with its cluster', async () => {
    main.put(ALL_SETS, set('b'));
    await saw('/b undefined');
    await engagement.disengage();
    reconciles.emit('thaw');
    main.put(ALL_SETS, set('c'));
    await saw('/c undefined');
    assert.deepEqual(
      seen.filter((each) => each.startsWith('east')),
      ['east/a undefined'],
    );
  });
});
