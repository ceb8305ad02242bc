import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, describe, test } from 'node:test';
import { clusterNamespace, type Work, WORKS } from '@asterism/fleet/api';
import { type Deployment, DEPLOYMENTS, findCondition, MUTATING_WEBHOOK_CONFIGURATIONS } from '@asterism/machinery';
import { untilExists } from '../../cluster/until-exists.ts';
import { WebhookProcess } from '../webhook-process.ts';
import { only, Scene, type Stage } from './scene.ts';

const QUIET_MS = 60_000;

/** What stood when the minute began. */
interface Quiet {
  scene: Scene;
  since: number;
  writes: number;
  work: Work;
}

/**
 * A webhook of the real member adds a sidecar to what is placed there: nobody fights it. The minute in which nothing may be written goes
 * by while other tests run, the first of them registered after `begin`, the last before `end`.
 */
export function injectedSidecar(stage: () => Stage): { begin(): void; end(): void } {
  let quiet: Quiet | undefined;
  let webhook: WebhookProcess | undefined;
  after(() => webhook?.stop());

  const begin = (): void => {
    describe('a webhook of a member that adds a sidecar', () => {
      test('has its way, and what changes in the hub comes beside it', async () => {
        const scene = await Scene.open(stage(), 'injected');
        webhook = await WebhookProcess.start(['127.0.0.1']);
        await inject(scene, webhook);
        const { metadata, ...rest } = scene.deployment('web', 2);
        const web = { ...rest, metadata: { ...metadata, labels: { inject: 'sidecar' } } };
        await scene.apply(web, scene.policyFor(web, { placement: only('oak') }));
        await scene.inMember('oak', DEPLOYMENTS, 'web', (live) => sameWords(imagesOf(live), ['app:1', 'sidecar:1']));
        await scene.kubectl('set', 'image', 'deployment/web', 'main=registry.example/app:2');
        await scene.inMember('oak', DEPLOYMENTS, 'web', (live) => sameWords(imagesOf(live), ['app:2', 'sidecar:1']));
        await scene.kubectl('rollout', 'status', 'deployment/web', '--timeout=30s');
        // kubectl waits for the new pods; the Deployment's controller tells of the end of the old ones a moment later.
        await rollOutTold(scene);
        const work = await workOf(scene);
        quiet = {
          scene,
          since: performance.now(),
          writes: (await scene.fleet.writesInOak(scene.ref('web'))).length,
          work,
        };
      });
    });
  };

  const end = (): void => {
    test('nothing was written about the sidecar in the minute since, though others wrote to the object', async (t) => {
      assert.ok(quiet, 'the minute never began');
      const { scene, since, writes, work } = quiet;
      // Not an annotation: of a Deployment that is a new generation, which the Work's status tells.
      await scene.fleet.oak.kubectl.run([
        'label',
        'deployment',
        'web',
        '-n',
        scene.namespace,
        'example.org/note=foreign',
      ]);
      await delay(Math.max(0, QUIET_MS - (performance.now() - since)));
      t.diagnostic(`${Math.round((performance.now() - since) / 1000)} s`);
      assert.deepEqual((await scene.fleet.writesInOak(scene.ref('web'))).slice(writes), []);
      assert.deepEqual(await workOf(scene), work);
      const live = await scene.inMember('oak', DEPLOYMENTS, 'web');
      assert.deepEqual(imagesOf(live), ['app:2', 'sidecar:1']);
    });
  };

  return { begin, end };
}

async function workOf({ fleet, namespace }: Scene): Promise<Work> {
  return await fleet.client.resource(WORKS).get(refOfWork(namespace));
}

async function rollOutTold({ fleet, namespace }: Scene): Promise<void> {
  await untilExists(fleet.client, WORKS, refOfWork(namespace), ({ status }) => {
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
