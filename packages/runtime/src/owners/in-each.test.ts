import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, createClient, type Transport, unlessAborted } from '@asterism/client';
import { CONFIG_MAPS, type ConfigMap, SECRETS, type Secret } from '@asterism/machinery';
import type { ClusterProvider, Engagement } from '../cluster/cluster.ts';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import { type ClusterOutcome, throwFailure } from './act-in-clusters.ts';
import { OwnedObjects } from './owned-objects.ts';

const OWNERS = { labelSelector: 'role=owner' };
const TIMEOUT_MS = 100;

let parts: AsyncDisposableStack;
let main: TestServer;
let east: TestServer;
/** Freezes what is asked of east from then on: its watches stay, and its health says nothing. */
let freeze: () => { thaw: () => void };
/** What came of each reconcile, by the owner's name. */
let outcomes: { name: string; each: ClusterOutcome[]; tookMs: number }[];
let reconciles: EventEmitter;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  [main, east] = await Promise.all([startTestServer(), startTestServer()]);
  for (const server of [main, east]) parts.use(server);
  let frozen: PromiseWithResolvers<void> | undefined;
  freeze = () => {
    frozen = Promise.withResolvers<void>();
    return { thaw: frozen.resolve };
  };
  const { transport } = east.client;
  const request: Transport['request'] = async (call) => {
    if (frozen) await unlessAborted(frozen.promise, call.signal);
    return await transport.request(call);
  };
  const client = createClient({ transport: { ...transport, request } as Transport });
  await start(client);
});
afterEach(() => parts.disposeAsync());

async function start(client: Client): Promise<void> {
  outcomes = [];
  reconciles = new EventEmitter();
  const engaged = Promise.withResolvers<Engagement>();
  const providers: ClusterProvider[] = [{ run: async (engage) => engaged.resolve(engage('east', client)) }];
  const manager = createManager({ client: main.client, providers, logger: silentLogger });
  const options = { manager, domain: 'd', owner: CONFIG_MAPS, owned: SECRETS, owners: OWNERS };
  const copies = new OwnedObjects<ConfigMap, Secret>(options);
  const controller = createController({
    name: 'copies',
    async reconcile(request, context) {
      const { namespace, name } = request;
      const owner = context.cluster.cache.get(CONFIG_MAPS, { namespace, name });
      if (!owner) return;
      const copy = copies.mark<Secret>({ metadata: { namespace, name } }, owner);
      const standing = new Set(copies.of(owner).map(({ cluster }) => cluster));
      const began = performance.now();
      const each = await copies.inEach(
        request,
        context,
        async (cluster, signal) => {
          if (!standing.has(cluster.name)) await cluster.client.resource(SECRETS).create(copy, { signal });
        },
        { timeoutMs: TIMEOUT_MS },
      );
      outcomes.push({ name, each, tookMs: performance.now() - began });
      reconciles.emit('one');
      throwFailure(each);
    },
  });
  manager.add(controller.for(CONFIG_MAPS, OWNERS).source(copies.subscribe));
  const stop = new AbortController();
  const stopped = manager.start(stop.signal);
  parts.defer(async () => (stop.abort(), await stopped));
  await manager.ready();
  const { cluster } = await engaged.promise;
  await cluster.cache.informer(SECRETS, { labelSelector: 'asterism.dev/owner-domain=d' }).synced();
}

const own = (name: string) =>
  main.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name, labels: { role: 'owner' } } });

/** The first reconcile of that owner of which it holds. */
async function reconciled(
  name: string,
  holds: (outcome: string | undefined) => boolean,
): Promise<{ tookMs: number; why: string }> {
  for (;;) {
    for (const outcome of outcomes) {
      const inEast = outcome.each.find(({ cluster }) => cluster === 'east');
      const why = inEast && 'error' in inEast ? String(inEast.error) : '';
      if (outcome.name === name && holds(inEast?.outcome)) return { tookMs: outcome.tookMs, why };
    }
    await once(reconciles, 'one');
  }
}

describe('an act in each cluster, for an owner', { timeout: 20_000 }, () => {
  test('a cluster that freezes is waited for once, then left out until it answers again', async () => {
    await own('before');
    await reconciled('before', (outcome) => outcome === 'done');
    const ice = freeze();
    await own('first');
    const first = await reconciled('first', (outcome) => outcome === 'silent');
    assert.match(first.why, /gave no answer within 100 ms/);
    assert.ok(await main.client.resource(SECRETS).get({ namespace: 'default', name: 'first' }));
    await own('second');
    const second = await reconciled('second', (outcome) => outcome === 'silent');
    assert.match(second.why, /was away before/);
    assert.ok(second.tookMs < TIMEOUT_MS, `${second.tookMs} ms`);
    ice.thaw();
    await Promise.all(['first', 'second'].map((name) => reconciled(name, (outcome) => outcome === 'done')));
    const { items } = await east.client.resource(SECRETS).list({ namespace: 'default' });
    assert.deepEqual(new Set(items.map(({ metadata }) => metadata?.name)), new Set(['before', 'first', 'second']));
  });

  test('what an earlier owner of the name has left makes way', async () => {
    const uid = '00000000-0000-0000-0000-000000000000';
    const annotations = {
      'asterism.dev/owner': '{"cluster":"","apiVersion":"v1","kind":"ConfigMap","namespace":"default","name":"again"}',
    };
    const labels = { 'asterism.dev/owner-domain': 'd', 'asterism.dev/owner-uid': uid };
    const secrets = east.client.resource(SECRETS);
    await secrets.create({ metadata: { namespace: 'default', name: 'again', labels, annotations } });
    const { metadata } = await own('again');
    await reconciled('again', (outcome) => outcome === 'failed');
    await reconciled('again', (outcome) => outcome === 'done');
    const made = await secrets.get({ namespace: 'default', name: 'again' });
    assert.equal(made.metadata?.labels?.['asterism.dev/owner-uid'], metadata?.uid);
  });
});
