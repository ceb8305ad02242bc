import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Deployment, DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS_V1 } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES } from '../../api/index.ts';
import { deployment } from '../../place/testing/build.ts';
import { Fleet } from '../testing/fleet.ts';
import { until } from '../testing/until.ts';

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
    until(fleet.member(name), DEPLOYMENTS, WEB, (object) => object !== undefined && test(object));
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
});
