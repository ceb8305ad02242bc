import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject } from '@asterism/machinery';
import type { ClusterProvider } from '../cluster/cluster.ts';
import { createController } from '../controller/controller.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { createSecretProvider } from './secret-provider.ts';
import { kubeconfigOf, PODS, ProviderTrial } from './testing/provider-trial.ts';

const SECRETS = '/api/v1/secrets';

function secretOf(server: string, name = 'paris'): KubeObject {
  const kubeconfig = Buffer.from(kubeconfigOf({ x: { server, token: 't' } })).toString('base64');
  return { metadata: { name, namespace: 'fleet' }, data: { kubeconfig } } as KubeObject;
}

test('a name that another provider has is reported once, and taken when it is free', async () => {
  const clock = new ManualClock();
  let leave: (() => Promise<void>) | undefined;
  const other = (): ClusterProvider => ({
    async run(engage) {
      leave = () => engagement.disengage();
      const engagement = engage('paris', api.client());
    },
  });
  await using api = await FakeApi.start();
  await using trial = await ProviderTrial.start((hub, logger) => [
    other(),
    createSecretProvider({ client: hub.client(), namespace: 'fleet', logger, clock }),
  ]);
  const own = await trial.api();
  trial.hub.put(SECRETS, secretOf(own.url));
  await trial.log.line(/the manager does not take it: cluster "paris" is engaged already/);
  clock.advance(30_000);
  await leave?.();
  clock.advance(30_000);
  await own.called(({ watch }) => watch);
  assert.equal(trial.log.lines.filter((line) => line.includes('does not take it')).length, 1);
});

test('a cluster that comes back while it leaves is engaged when it has left, never twice', async () => {
  await using trial = await ProviderTrial.start((hub, logger) =>
    createSecretProvider({ client: hub.client(), namespace: 'fleet', logger }),
  );
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let working = 0;
  let most = 0;
  trial.manager.add(
    createController({
      name: 'slow',
      concurrency: 4,
      concurrencyPerCluster: 4,
      async reconcile({ cluster: name }) {
        if (name !== 'paris') return;
        most = Math.max(most, ++working);
        began.resolve();
        await end.promise;
        working--;
      },
    }).for(PODS, { clusters: 'members' }),
  );
  const api = await trial.api();
  trial.hub.put(SECRETS, secretOf(api.url));
  const cluster = await trial.engaged('paris');
  await began.promise;
  trial.hub.remove(SECRETS, 'paris', 'fleet');
  await new Promise<void>((resolve) => cluster.signal.addEventListener('abort', () => resolve()));
  const next = await trial.api();
  trial.hub.put(SECRETS, secretOf(next.url));
  trial.hub.remove(SECRETS, 'paris', 'fleet');
  trial.hub.put(SECRETS, secretOf(next.url));
  trial.hub.put(SECRETS, secretOf(next.url, 'lyon'));
  await trial.engaged('lyon'); // So what came before it was seen.
  assert.equal(trial.manager.cluster('paris'), cluster, 'its last reconcile has not ended');
  end.resolve();
  await trial.left('paris');
  assert.notEqual(await trial.engaged('paris'), cluster);
  await api.silent();
  assert.equal(most, 1);
});
