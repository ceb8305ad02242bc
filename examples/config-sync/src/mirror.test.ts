import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type FaultyTestServer, startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  type ConfigMap,
  type KubeObject,
  NAMESPACES,
  type ResourceType,
  SECRETS,
} from '@asterism/machinery';
import { type ClusterProvider, createManager, type Engagement, ownedSelector, silentLogger } from '@asterism/runtime';
import { addMirror, MIRROR_LABEL } from './mirror.ts';

const ref = { namespace: 'shop', name: 'settings' };
const labels = { [MIRROR_LABEL]: 'true', app: 'web' };

let parts: AsyncDisposableStack;
let main: TestServer;
let paris: FaultyTestServer;
let lyon: TestServer;
let join: (name: string, server: TestServer) => Engagement;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const starting = [startTestServer(), startTestServer({ faults: true }), startTestServer()] as const;
  [main, paris, lyon] = await Promise.all(starting);
  for (const server of [main, paris, lyon]) parts.use(server);
  await main.inside.resource(NAMESPACES).create({ metadata: { name: ref.namespace } });
  const engaging = Promise.withResolvers<Parameters<ClusterProvider['run']>[0]>();
  const providers: ClusterProvider[] = [{ run: async (engage) => engaging.resolve(engage) }];
  const manager = createManager({ client: main.client, providers, logger: silentLogger });
  addMirror(manager, CONFIG_MAPS, { domain: 'test' });
  addMirror(manager, SECRETS, { domain: 'test' });
  const stop = new AbortController();
  const stopped = manager.start(stop.signal);
  parts.defer(async () => {
    stop.abort();
    await stopped;
  });
  const engage = await engaging.promise;
  join = (name, server) => engage(name, server.client);
});
afterEach(() => parts.disposeAsync());

/** Resolves when the server's object of that kind and name is so. */
const when = <T extends KubeObject>(
  { inside }: TestServer,
  type: ResourceType<T>,
  holds: (found: T | undefined) => boolean,
): Promise<T | undefined> => untilObject(inside, type, ref, holds);
const isThere = (found: unknown): boolean => found !== undefined;
const isGone = (found: unknown): boolean => found === undefined;
const isBlue = (found?: ConfigMap): boolean => found?.data?.['colour'] === 'blue';

const createMap = (data: Record<string, string> = { colour: 'blue' }): Promise<ConfigMap> =>
  main.inside.resource(CONFIG_MAPS).create({ metadata: { ...ref, labels }, data });
const change = ({ inside }: TestServer, body: object): Promise<ConfigMap> =>
  inside.resource(CONFIG_MAPS).patch(ref, { type: 'merge', body });
const remove = ({ inside }: TestServer) => inside.resource(CONFIG_MAPS).delete(ref);

describe('what is labelled', { timeout: 60_000 }, () => {
  test('stands in every cluster, also in one that joins later, in a namespace that is made', async () => {
    join('paris', paris);
    await createMap();
    const data = { password: Buffer.from('hunter2').toString('base64') };
    await main.inside.resource(SECRETS).create({ metadata: { ...ref, labels }, type: 'example.dev/login', data });
    await when(paris, CONFIG_MAPS, isBlue);
    join('lyon', lyon);
    const copy = await when(lyon, CONFIG_MAPS, isBlue);
    assert.equal(copy?.metadata?.labels?.['app'], 'web');
    assert.equal(copy?.metadata?.labels?.[MIRROR_LABEL], undefined);
    const secret = await when(lyon, SECRETS, isThere);
    assert.deepEqual([secret?.type, secret?.data], ['example.dev/login', data]);
  });

  test('is followed when it changes, and nothing else is copied', async () => {
    join('paris', paris);
    await main.inside.resource(CONFIG_MAPS).create({ metadata: { ...ref, name: 'private' }, data: {} });
    await createMap({ colour: 'red' });
    await when(paris, CONFIG_MAPS, isThere);
    await change(main, { data: { colour: 'blue' } });
    await when(paris, CONFIG_MAPS, isBlue);
    const { items } = await paris.inside.resource(CONFIG_MAPS).list({ namespace: ref.namespace });
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name).filter((name) => name !== 'kube-root-ca.crt'),
      [ref.name],
    );
  });

  const drift: Record<string, object> = {
    'a value': { data: { colour: 'red' } },
    'a further entry': { data: { shape: 'round' } },
    'a label': { metadata: { labels: { app: 'mine' } } },
    'the note of its owner': { metadata: { annotations: { 'asterism.dev/owner': null } } },
    'its immutability': { immutable: true },
  };
  for (const [what, body] of Object.entries(drift)) {
    test(`${what} that is changed in a copy is changed back`, async () => {
      join('paris', paris);
      await createMap();
      const { data, metadata } = (await when(paris, CONFIG_MAPS, isBlue)) ?? {};
      const changed = await change(paris, body);
      const healed = await when(paris, CONFIG_MAPS, (found) => {
        return found !== undefined && found.metadata?.resourceVersion !== changed.metadata?.resourceVersion;
      });
      assert.deepEqual([healed?.data, healed?.immutable], [data, undefined]);
      assert.deepEqual(healed?.metadata?.labels, metadata?.labels);
      assert.deepEqual(healed?.metadata?.annotations, metadata?.annotations);
    });
  }

  test('is copied anew where a copy was deleted', async () => {
    join('paris', paris);
    await createMap();
    await when(paris, CONFIG_MAPS, isBlue);
    const { uid } = (await paris.inside.resource(CONFIG_MAPS).get(ref)).metadata ?? {};
    await remove(paris);
    await when(paris, CONFIG_MAPS, (found) => isBlue(found) && found?.metadata?.uid !== uid);
  });

  const ends: Record<string, () => Promise<unknown>> = {
    deleted: () => remove(main),
    'without its label': () => change(main, { metadata: { labels: { [MIRROR_LABEL]: null } } }),
  };
  for (const [how, end] of Object.entries(ends)) {
    test(`takes its copies along when it is ${how}, in a cluster that was away too`, async () => {
      join('paris', paris);
      const stay = join('lyon', lyon);
      await createMap();
      await Promise.all([paris, lyon].map((server) => when(server, CONFIG_MAPS, isBlue)));
      await stay.disengage();
      await end();
      await when(paris, CONFIG_MAPS, isGone);
      join('lyon', lyon);
      await when(lyon, CONFIG_MAPS, isGone);
    });
  }

  test('leaves alone what somebody else has under that name, and copies to the others', async () => {
    await paris.inside.resource(NAMESPACES).create({ metadata: { name: ref.namespace } });
    await paris.inside.resource(CONFIG_MAPS).create({ metadata: ref, data: { theirs: 'yes' } });
    join('paris', paris);
    join('lyon', lyon);
    await createMap();
    await when(lyon, CONFIG_MAPS, isBlue);
    await paris.faults.requested({ verb: 'create', resource: 'configmaps', status: 409 });
    await remove(main);
    await when(lyon, CONFIG_MAPS, isGone);
    assert.deepEqual((await paris.inside.resource(CONFIG_MAPS).get(ref)).data, { theirs: 'yes' });
  });

  test('is what it was in the others while a cluster is frozen, and there when it thaws', async () => {
    const { cluster } = join('paris', paris);
    join('lyon', lyon);
    await createMap({ colour: 'red' });
    await when(lyon, CONFIG_MAPS, isThere);
    // The operator has seen what it wrote: else it waits for that a while.
    const copies = cluster.cache.informer(CONFIG_MAPS, { labelSelector: ownedSelector('test') });
    await new Promise((resolve) => copies.addHandler({ onAdd: resolve }));
    const ice = paris.faults.freeze();
    await change(main, { data: { colour: 'blue' } });
    await when(lyon, CONFIG_MAPS, isBlue);
    ice.lift();
    await when(paris, CONFIG_MAPS, isBlue);
  });
});
