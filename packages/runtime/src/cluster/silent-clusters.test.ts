import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { HandProvider } from '../testing/hand-provider.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ALL = '/api/v1/pods';
const pod = (name: string): KubeObject => ({ metadata: { name, namespace: 'n' } });

/** Nothing is found out about a server that stops in the middle of its work before a PING has no answer, 45 s later. */
test('clusters that fall silent all at once hold up no other, though every worker waits for them', async () => {
  await using hub = await FakeApi.start();
  await using oslo = await FakeApi.start();
  await using rome = await FakeApi.start();
  await using bern = await FakeApi.start();
  const clock = new ManualClock();
  const provider = new HandProvider();
  const abort = new AbortController();
  const manager = createManager({
    client: hub.client(),
    providers: [provider],
    logger: silentLogger,
    clock,
    graceMs: 0,
  });
  const done = Promise.withResolvers<void>();
  manager.add(
    createController({
      name: 'test',
      concurrency: 2,
      async reconcile({ namespace, name }, { cluster, signal }) {
        if (cluster.name === 'bern') return done.resolve();
        await cluster.client.resource(PODS).get({ namespace, name }, { signal });
      },
    }).for(PODS, { clusters: 'members' }),
  );
  const stopped = manager.start(abort.signal);
  await manager.ready();
  const asked: Promise<void>[] = [];
  for (const [name, api] of Object.entries({ oslo, rome })) {
    const question = Promise.withResolvers<void>();
    asked.push(question.promise);
    api.fault(({ path }) => {
      if (!path.endsWith('/waiting')) return false;
      question.resolve();
      return true;
    });
    api.put(ALL, pod('waiting'));
    provider.engage(name, api.client());
  }
  await Promise.all(asked);
  bern.put(ALL, pod('well'));
  const { cluster } = provider.engage('bern', bern.client());
  await cluster.cache.informer(PODS).synced();
  let served = false;
  void done.promise.then(() => (served = true));
  clock.advance(4_000);
  await new Promise(setImmediate);
  assert.equal(served, false, 'there is no worker left');
  clock.advance(6_000);
  await done.promise;
  abort.abort();
  await stopped;
});
