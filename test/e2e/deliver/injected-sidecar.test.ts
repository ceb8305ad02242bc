// Runs beside other tests: it waits for a minute in which nothing is written.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, test } from 'node:test';
import { clusterNamespace, type Work, WORKS } from '@asterism/fleet/api';
import { type Deployment, DEPLOYMENTS, findCondition, MUTATING_WEBHOOK_CONFIGURATIONS } from '@asterism/machinery';
import { until } from '../../cluster/until.ts';
import { WebhookProcess } from '../../cluster/webhook-process.ts';
import { describePlacing } from '../../cluster/placing/describe-placing.ts';
import { only, Scene } from '../../cluster/placing/scene.ts';

const QUIET_MS = 60_000;

describePlacing('a webhook of a member that adds a sidecar', { simulated: [] }, (fleet) => {
  let webhook: WebhookProcess | undefined;
  after(() => webhook?.stop());

  test('has its way: the hub changes the rest of the object, and writes nothing about the sidecar in a minute', async () => {
    const scene = await Scene.open(fleet(), 'injected');
    webhook = await WebhookProcess.start(['127.0.0.1']);
    await inject(scene, webhook);
    const { metadata, ...rest } = scene.deployment('web', 2);
    const web = { ...rest, metadata: { ...metadata, labels: { inject: 'sidecar' } } };
    await scene.apply(web, scene.policyFor(web, { placement: only('oak') }));
    await scene.inMember('oak', DEPLOYMENTS, 'web', (live) => sameWords(imagesOf(live), ['app:1', 'sidecar:1']));
    await scene.kubectl('set', 'image', 'deployment/web', 'main=registry.example/app:2');
    await scene.inMember('oak', DEPLOYMENTS, 'web', (live) => sameWords(imagesOf(live), ['app:2', 'sidecar:1']));
    await scene.kubectl('rollout', 'status', 'deployment/web', '--timeout=30s');
    // kubectl waits for the new pods. The controller of the Deployment reports the end of the old ones a moment later.
    await rollOutTold(scene);
    const work = await workOf(scene);
    const writes = (await scene.fleet.writesInOak(scene.ref('web'))).length;
    // A label and not an annotation, which would be a new generation of a Deployment and so a change of the Work's status.
    await scene.fleet.oak.kubectl.run(['label', 'deploy', 'web', '-n', scene.namespace, 'example.org/note=foreign']);
    await delay(QUIET_MS);
    assert.deepEqual((await scene.fleet.writesInOak(scene.ref('web'))).slice(writes), []);
    assert.deepEqual(await workOf(scene), work);
    const live = await scene.inMember('oak', DEPLOYMENTS, 'web');
    assert.deepEqual(imagesOf(live), ['app:2', 'sidecar:1']);
  });
});

async function workOf({ fleet, namespace }: Scene): Promise<Work> {
  return await fleet.client.resource(WORKS).get(refOfWork(namespace));
}

async function rollOutTold({ fleet, namespace }: Scene): Promise<void> {
  await until(fleet.client, WORKS, refOfWork(namespace), ({ status }) => {
    const told = status?.manifestStatuses?.[0]?.status as Deployment['status'];
    return (
      findCondition(told?.conditions, 'Progressing')?.reason === 'NewReplicaSetAvailable' && !told?.unavailableReplicas
    );
  });
}

function refOfWork(namespace: string): { namespace: string; name: string } {
  return { namespace: clusterNamespace('oak'), name: `${namespace}.web-deployment` };
}

/** Into every Deployment of the real member that asks for it. */
async function inject({ fleet }: Scene, { port, ca }: WebhookProcess): Promise<void> {
  await fleet
    .member('oak')
    .resource(MUTATING_WEBHOOK_CONFIGURATIONS)
    .create({
      metadata: { name: 'sidecar' },
      webhooks: [
        {
          name: 'sidecar.example.org',
          clientConfig: {
            url: `https://127.0.0.1:${port}/sidecar`,
            caBundle: Buffer.from(ca.cert).toString('base64'),
          },
          rules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] },
          ],
          objectSelector: { matchLabels: { inject: 'sidecar' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
}

/** Without the registry. */
function imagesOf({ spec }: Deployment): (string | undefined)[] {
  return (spec?.template?.spec?.containers ?? []).map(({ image }) => image?.replace('registry.example/', ''));
}

function sameWords(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.join() === b.join();
}
