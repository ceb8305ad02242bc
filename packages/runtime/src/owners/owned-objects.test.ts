import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import { type Client, ClientError, createClient } from '@asterism/client';
import {
  CONFIG_MAPS,
  type ConfigMap,
  type KubeObject,
  type ResourceType,
  type Secret,
  SECRETS,
} from '@asterism/machinery';
import { createApply } from '../apply/create-apply.ts';
import type { Engagement } from '../cluster/cluster.ts';
import { createController } from '../controller/controller.ts';
import { withFinalizer } from '../finalizers/with-finalizer.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from '../lifecycle/manager.ts';
import type { ReconcileContext } from '../controller/reconcile.ts';
import { ownedSelector, readClusterId } from './cluster-owner.ts';
import { OwnedObjects } from './owned-objects.ts';

const DOMAIN = 'copies.example.dev';
const OWNERS = { namespace: 'default' };
const apply = createApply({ fieldManager: 'copies' });

let servers: TestServer[];
let main: TestServer;
let east: TestServer;
let manager: Manager;
let copies: OwnedObjects<ConfigMap, Secret>;
let engage: (name: string, client: Client) => Engagement;
let abort: AbortController;
let stopped: Promise<void>;
let nth = 0;
let name: string;
/** Called in each reconcile of an owner that is there. */
let meanwhile: (context: ReconcileContext) => Promise<void>;

before(async () => {
  servers = await Promise.all([startTestServer(), startTestServer()]);
  [main, east] = servers as [TestServer, TestServer];
});
after(() => Promise.all(servers.map((server) => server.stop())));

beforeEach(async () => {
  name = `settings-${++nth}`;
  meanwhile = async () => {};
  abort = new AbortController();
  const engaging = Promise.withResolvers<typeof engage>();
  const providers = [{ run: async (each: typeof engage) => engaging.resolve(each) }];
  manager = createManager({ client: main.client, providers, logger: silentLogger });
  copies = new OwnedObjects({ manager, domain: DOMAIN, owner: CONFIG_MAPS, owned: SECRETS, owners: OWNERS });
  const reconcile = withFinalizer({
    type: CONFIG_MAPS,
    finalizer: 'example.dev/copies',
    selects: ({ metadata }) => metadata?.labels?.['role'] === 'owner',
    async reconcile(map, request, context) {
      for (const { client } of copies.clusters(request, context)) {
        const { namespace, name: its = '' } = map.metadata ?? {};
        const copy = { metadata: { namespace, name: its }, stringData: map.data ?? {} };
        await apply(client, SECRETS, copies.mark(copy, map), context);
      }
      await meanwhile(context);
    },
    cleanup: (map, _, context) => copies.deleteAll(map, context),
    absent: (request, context) => copies.collectGarbage(request, context),
  });
  manager.add(createController({ name: 'copies', reconcile }).for(CONFIG_MAPS, OWNERS).source(copies.subscribe));
  stopped = manager.start(abort.signal);
  await manager.ready();
  engage = await engaging.promise;
});
afterEach(async () => {
  abort.abort();
  await stopped;
});

/** Resolves when the server's object of that kind is so. */
const when = <T extends KubeObject>(
  { client }: { client: Client },
  type: ResourceType<T>,
  holds: (found: T | undefined) => boolean,
): Promise<T | undefined> => untilObject(client, type, { namespace: 'default', name }, holds);
const isThere = (found: unknown): boolean => found !== undefined;
const isGone = (found: unknown): boolean => found === undefined;
const createOwner = (): Promise<ConfigMap> =>
  main.client.resource(CONFIG_MAPS).create({
    metadata: { namespace: 'default', name, labels: { role: 'owner' } },
    data: { colour: 'blue' },
  });
const removeOwner = () => main.client.resource(CONFIG_MAPS).delete({ namespace: 'default', name });
const removeCopy = (server: TestServer) => server.client.resource(SECRETS).delete({ namespace: 'default', name });

/** A line that can be cut and mended. */
function line({ client: { transport } }: TestServer) {
  let cut = new AbortController();
  const request = async (call: Parameters<typeof transport.request>[0]) => {
    const gone = new ClientError('the line is cut', { code: 'ECONNREFUSED' });
    if (cut.signal.aborted) throw gone;
    const signal = AbortSignal.any([cut.signal, ...(call.signal ? [call.signal] : [])]);
    return await transport.request({ ...call, signal }).catch((error) => {
      throw cut.signal.aborted ? gone : error;
    });
  };
  const client = createClient({ transport: { ...transport, request } as typeof transport });
  return { client, cut: () => cut.abort(), mend: () => (cut = new AbortController()) };
}

describe('what is owned across clusters', () => {
  test('stands in every cluster, also in one that comes later; what is lost is made again', async () => {
    await createOwner();
    await when(main, SECRETS, isThere);
    engage('east', east.client);
    const copy = await when(east, SECRETS, isThere);
    assert.equal(copy?.metadata?.ownerReferences, undefined);
    const uid = copy?.metadata?.uid;
    await removeCopy(east);
    await when(east, SECRETS, (found) => found !== undefined && found.metadata?.uid !== uid);
  });

  test('goes everywhere with its owner, which waits for that', async () => {
    engage('east', east.client);
    const owner = await createOwner();
    await Promise.all([when(main, SECRETS, isThere), when(east, SECRETS, isThere)]);
    await removeOwner();
    await when(main, CONFIG_MAPS, isGone);
    assert.deepEqual(await Promise.all([main, east].map((server) => when(server, SECRETS, () => true))), [
      undefined,
      undefined,
    ]);
    assert.deepEqual(copies.of(owner), []);
  });

  test('a cluster that cannot be reached keeps the owner, and nothing else, waiting', async () => {
    const { client, cut, mend } = line(east);
    engage('east', client);
    await createOwner();
    await when(east, SECRETS, isThere);
    cut();
    await removeOwner();
    await when(main, SECRETS, isGone);
    assert.ok(await when(main, CONFIG_MAPS, isThere));
    assert.ok(await when(east, SECRETS, isThere));
    mend();
    await when(main, CONFIG_MAPS, isGone);
    await when(east, SECRETS, isGone);
  });

  test('a cluster that is taken out is waited for no longer', { timeout: 10_000 }, async () => {
    const { client, cut } = line(east);
    const engagement = engage('east', client);
    await createOwner();
    await when(east, SECRETS, isThere);
    cut();
    await removeOwner();
    await when(main, SECRETS, isGone);
    assert.ok(await when(main, CONFIG_MAPS, isThere));
    await engagement.disengage();
    await when(main, CONFIG_MAPS, isGone);
  });

  test('a cluster that cannot be reached is left out, and had again when it is back', async () => {
    const { client, cut, mend } = line(east);
    const { cluster } = engage('east', client);
    await cluster.cache.informer(SECRETS, { labelSelector: ownedSelector(DOMAIN) }).synced();
    cut();
    while (cluster.health() !== 'Unreachable') await new Promise(setImmediate);
    const reconciled = Promise.withResolvers<void>();
    meanwhile = async () => reconciled.resolve();
    await createOwner();
    await reconciled.promise;
    assert.deepEqual(copies.away(), ['east']);
    assert.equal(await when(east, SECRETS, () => true), undefined);
    mend();
    await when(east, SECRETS, isThere);
    assert.deepEqual(copies.away(), []);
  });

  test("a cluster that was away when the owner went is cleaned up when it is back; others' objects stay", async () => {
    const engagement = engage('east', east.client);
    const owner = await createOwner();
    await when(east, SECRETS, isThere);
    await engagement.disengage();
    assert.deepEqual(
      copies.of(owner).map(({ cluster }) => cluster),
      [''],
    );
    await removeOwner();
    await when(main, CONFIG_MAPS, isGone);
    const other = new OwnedObjects({ manager, domain: 'other.example.dev', owner: CONFIG_MAPS, owned: SECRETS });
    const theirs = { metadata: { namespace: 'default', name: `${name}-other` } };
    await apply(east.client, SECRETS, other.mark(theirs, owner));
    assert.ok(await when(east, SECRETS, isThere));
    engage('east', east.client);
    await when(east, SECRETS, isGone);
    assert.ok(await east.client.resource(SECRETS).get(theirs.metadata));
  });

  test('nothing is deleted that has an owner on the server, whatever is asked for', async () => {
    engage('east', east.client);
    const collected = Promise.withResolvers<(string | undefined)[]>();
    meanwhile = async (context) => {
      const placed = copies.of(owner);
      if (placed.length < 2) return;
      await copies.collectGarbage({ cluster: '', namespace: 'default', name }, context);
      collected.resolve(placed.map(({ object }) => object.metadata?.uid));
    };
    const owner = await createOwner();
    const uids = await collected.promise;
    const standing = await Promise.all([main, east].map((server) => when(server, SECRETS, isThere)));
    assert.deepEqual(
      standing.map((found) => found?.metadata?.uid),
      uids,
    );
  });

  test('asks for the owner when what it owns is made, changed and deleted', async () => {
    engage('east', east.client);
    const domain = 'asked.example.dev';
    let heard = (): void => {};
    const others = new OwnedObjects({ manager, domain, owner: CONFIG_MAPS, owned: SECRETS, owners: OWNERS });
    others.subscribe((request) => {
      if (request.name === 'owner-of-it') heard();
    }, abort.signal);
    const asked = async (act: () => Promise<unknown>): Promise<void> => {
      const hearing = new Promise<void>((resolve) => (heard = resolve));
      await act();
      await hearing;
    };
    const uid = '00000000-0000-0000-0000-000000000000';
    const owner = { metadata: { namespace: 'default', name: 'owner-of-it', uid } };
    const secret = { metadata: { namespace: 'default', name: `${name}-other` } };
    const put = (text: string) => () =>
      apply(east.client, SECRETS, others.mark({ ...secret, stringData: { text } }, owner));
    await asked(put('a'));
    await asked(put('b'));
    await asked(() => east.client.resource(SECRETS).delete(secret.metadata));
  });

  test('what an earlier owner of the name has left goes, what the new one has stays', async () => {
    const owner = await createOwner();
    await when(main, SECRETS, isThere);
    const former = { ...owner, metadata: { ...owner.metadata, uid: '00000000-0000-0000-0000-000000000000' } };
    const left = { namespace: 'default', name: `${name}-left` };
    const request = { cluster: '', namespace: 'default', name };
    meanwhile = async (context) => {
      await copies.collectGarbage(request, context);
    };
    await apply(main.client, SECRETS, copies.mark({ metadata: left }, former));
    const watched = name;
    name = left.name;
    await when(main, SECRETS, isGone);
    name = watched;
    assert.ok(await when(main, SECRETS, isThere));
  });

  test('one controller is fed, and no more', () => {
    assert.throws(() => copies.subscribe(() => {}, abort.signal), /what owns secrets has a controller already/);
  });

  test('a cluster is known by the uid of its kube-system', async () => {
    const [here, there] = await Promise.all([main, east].map(({ client }) => readClusterId(client)));
    assert.match(here ?? '', /^[0-9a-f-]{36}$/);
    assert.notEqual(here, there);
  });
});
