import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { createClient, type Transport } from '@asterism/client';
import { type Deployment, DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS_V1, type KubeObject } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES } from '../../api/index.ts';
import { deployment } from '../../place/testing/build.ts';
import { Fleet } from '../testing/fleet.ts';
import { keepScale } from './keep-scale.ts';

const WEB = { namespace: 'demo', name: 'web' };

describe('what an autoscaler of the member scales', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: { syncMode: 'Pull' } });
    await fleet.run();
    const { uid: _, ...metadata } = deployment(2).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(2), metadata } as Deployment);
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'all' },
      spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: {} },
    });
    for (const name of ['ant', 'bee']) await stands(name, ({ spec }) => spec?.replicas === 2);
    await autoscale('ant', 'web');
    await autoscale('bee', 'another');
  });
  after(() => fleet[Symbol.asyncDispose]());

  const autoscale = (name: string, target: string) =>
    fleet
      .member(name)
      .resource(HORIZONTAL_POD_AUTOSCALERS_V1)
      .create({
        metadata: WEB,
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target }, maxReplicas: 9 },
      });
  const stands = (name: string, test: (object: Deployment) => boolean) =>
    untilObject(fleet.member(name), DEPLOYMENTS, WEB, (object) => object !== undefined && test(object));
  const scale = (replicas: number, ...names: string[]) =>
    Promise.all(
      names.map((name) =>
        fleet
          .member(name)
          .resource(DEPLOYMENTS)
          .patch(WEB, { type: 'merge', body: { spec: { replicas } } }),
      ),
    );
  const change = (body: object) => fleet.hub.resource(DEPLOYMENTS).patch(WEB, { type: 'merge', body });
  const colour = ({ metadata }: Deployment) => metadata?.labels?.['colour'];

  test('keeps its replicas, and is not written to; where none scales it, what was changed is put right', async () => {
    const before = await fleet.member('ant').resource(DEPLOYMENTS).get(WEB);
    await scale(5, 'ant', 'bee');
    await stands('bee', ({ spec, metadata }) => spec?.replicas === 2 && metadata?.generation === 3);
    await change({ metadata: { labels: { colour: 'green' } } });
    const now = await stands('ant', (object) => colour(object) === 'green');
    assert.equal(now?.spec?.replicas, 5);
    assert.equal(now?.metadata?.generation, (before.metadata?.generation ?? 0) + 1, 'scaled once, by the autoscaler');
  });

  test('gets what else changes in the hub, and keeps them', async () => {
    await change({ spec: { replicas: 3, minReadySeconds: 1 } });
    await stands('bee', ({ spec }) => spec?.minReadySeconds === 1 && spec.replicas === 3);
    const ant = await stands('ant', ({ spec }) => spec?.minReadySeconds === 1);
    assert.equal(ant?.spec?.replicas, 5);
  });

  test('is turned off and on by the hub', async () => {
    await change({ spec: { replicas: 0 } });
    await stands('ant', ({ spec }) => spec?.replicas === 0);
    await change({ spec: { replicas: 4 } });
    await stands('ant', ({ spec }) => spec?.replicas === 4);
  });

  test('so does what nobody is known to scale, once the template says so by a label, and as long as it does', async () => {
    const retain = (value: string | null) =>
      change({ metadata: { labels: { 'asterism.dev/retain-replicas': value } } });
    await retain('true');
    await stands('bee', ({ metadata }) => metadata?.labels?.['asterism.dev/retain-replicas'] === 'true');
    await scale(7, 'bee');
    await change({ spec: { replicas: 3, minReadySeconds: 2 } });
    const bee = await stands('bee', ({ spec }) => spec?.minReadySeconds === 2);
    assert.equal(bee?.spec?.replicas, 7);
    await retain(null);
    await stands('bee', ({ spec }) => spec?.replicas === 3);
  });
});

for (const label of ['asterism.dev/retain-replicas', 'resourcetemplate.karmada.io/retain-replicas']) {
  describe(`what is labelled ${label}`, () => {
    const spec = { replicas: 2, minReadySeconds: 1 };
    const manifest = (value: string, wanted = spec): KubeObject => {
      const { metadata, ...rest } = deployment(2);
      return { ...rest, metadata: { ...metadata, labels: { [label]: value } }, spec: wanted };
    };
    /** Of a member that may not be asked: a label says enough. */
    const kept = async (object: KubeObject, replicas: number | undefined) => {
      const client = createClient({ transport: refusing() });
      const live = replicas === undefined ? undefined : { ...deployment(0), spec: { replicas } };
      return (await keepScale({ client }, object, live))['spec'];
    };

    test('keeps the number that it has in the member, whoever gave it', async () => {
      assert.deepEqual(await kept(manifest('true'), 5), { replicas: 5, minReadySeconds: 1 });
    });

    test('0 too, on either side', async () => {
      assert.deepEqual(await kept(manifest('true'), 0), { replicas: 0, minReadySeconds: 1 });
      assert.deepEqual(await kept(manifest('true', { ...spec, replicas: 0 }), 3), { replicas: 3, minReadySeconds: 1 });
    });

    test('begins with what the template says', async () => {
      assert.deepEqual(await kept(manifest('true'), undefined), spec);
    });

    test('only where its value is true', async () => {
      await assert.rejects(kept(manifest('false'), 5), /nothing is asked here/);
    });
  });
}

function refusing(): Transport {
  return {
    request: () => Promise.reject(new Error('nothing is asked here')),
    upgrade: () => Promise.reject(new Error('nothing is asked here')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
