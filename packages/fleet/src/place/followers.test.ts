import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  type KubeObject,
  type PodSpec,
  type ResourceType,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { CLUSTERS, PROPAGATION_POLICIES, type PropagationPolicy, RESOURCE_BINDINGS } from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';
import { deployment } from './testing/build.ts';

const ref = (name: string) => ({ namespace: 'demo', name });
const to = (...clusterNames: string[]) => ({ clusterAffinity: { clusterNames } });

describe('what follows a workload', () => {
  let fleet: Fleet;
  before(async () => {
    const serves = ['apps/v1/Deployment', 'v1/ConfigMap', 'v1/Secret', 'v1/ServiceAccount'];
    fleet = await Fleet.start({ ant: { serves }, bee: { serves, labels: { value: 'odd' } } });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const create = (name: string, spec: Partial<PropagationPolicy['spec']>, kind = 'Deployment') =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: ref(`${name}-${kind.toLowerCase()}`),
      spec: { resourceSelectors: [{ apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1', kind, name }], ...spec },
    });
  const run = (name: string, podSpec: Partial<PodSpec> = {}) =>
    fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(1, { podSpec }), metadata: ref(name) } as never);
  const edit = (name: string, body: object) =>
    fleet.hub.resource(DEPLOYMENTS).patch(ref(name), { type: 'merge', body });
  const stands = <T extends KubeObject>(where: string, type: ResourceType<T>, name: string) =>
    untilObject<T>(fleet.member(where), type, ref(name), (object) => object !== undefined);
  const gone = <T extends KubeObject>(where: string, type: ResourceType<T>, name: string) =>
    untilObject<T>(fleet.member(where), type, ref(name), (object) => object === undefined);
  const has = async <T extends KubeObject>(where: string, type: ResourceType<T>, name: string) =>
    (await fleet.member(where).resource(type).list({ namespace: 'demo' })).items.some(
      ({ metadata }) => metadata?.name === name,
    );

  test('stays while a Lazy policy that takes it along no more waits for the workload to change, whatever else happens', async () => {
    const labelled = (value: string) =>
      fleet.hub.resource(CLUSTERS).patch({ name: 'ant' }, { type: 'merge', body: { metadata: { labels: { value } } } });
    await labelled('none');
    await fleet.hub.resource(CONFIG_MAPS).create({ metadata: ref('conf') });
    const web = { placement: to('ant'), propagateDeps: true, activationPreference: 'Lazy' as const };
    await create('web', web);
    await create('marker', { placement: { clusterAffinity: { labelSelector: { matchLabels: { value: 'odd' } } } } });
    await run('web', { volumes: [{ name: 'conf', configMap: { name: 'conf' } }] });
    await run('marker');
    await stands('ant', CONFIG_MAPS, 'conf');
    const uid = (await fleet.hub.resource(RESOURCE_BINDINGS).get(ref('conf-configmap'))).metadata.uid;
    const body = { spec: { propagateDeps: false } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('web-deployment'), { type: 'merge', body });
    for (const value of ['odd', 'even', 'odd', 'even']) {
      await labelled(value);
      await (value === 'odd' ? stands : gone)('ant', DEPLOYMENTS, 'marker');
      const { metadata } = await fleet.hub.resource(RESOURCE_BINDINGS).get(ref('conf-configmap'));
      assert.deepEqual([metadata.uid, metadata.deletionTimestamp], [uid, undefined]);
    }
    await edit('web', { metadata: { labels: { touched: 'yes' } } });
    await gone('ant', CONFIG_MAPS, 'conf');
    await untilObject(fleet.hub, RESOURCE_BINDINGS, ref('conf-configmap'), (binding) => binding === undefined);
  });

  test('brings along its own: the image pull secrets of a service account, not its tokens, and only where the workload is', async () => {
    const { hub } = fleet;
    for (const name of ['pull', 'other', 'token']) await hub.resource(SECRETS).create({ metadata: ref(name) });
    await hub.resource(SERVICE_ACCOUNTS).create({
      metadata: ref('robot'),
      imagePullSecrets: [{ name: 'pull' }],
      secrets: [{ name: 'token' }],
    });
    await create('robot', { placement: to('bee') }, 'ServiceAccount');
    await stands('bee', SERVICE_ACCOUNTS, 'robot');
    await create('api', { placement: to('ant'), propagateDeps: true });
    await run('api', { serviceAccountName: 'robot' });
    await stands('ant', SECRETS, 'pull');
    await stands('ant', SERVICE_ACCOUNTS, 'robot');
    const binding = await hub.resource(RESOURCE_BINDINGS).get(ref('pull-secret'));
    assert.deepEqual(binding.spec.clusters, [{ name: 'ant' }]);
    assert.deepEqual(
      binding.spec.requiredBy?.map(({ kind, name }) => `${kind} ${name}`),
      ['Deployment api'],
    );
    const body = { imagePullSecrets: [{ name: 'other' }] };
    await hub.resource(SERVICE_ACCOUNTS).patch(ref('robot'), { type: 'merge', body });
    await stands('ant', SECRETS, 'other');
    await gone('ant', SECRETS, 'pull');
    const moved = { spec: { placement: to('ant', 'bee') } };
    await hub.resource(PROPAGATION_POLICIES).patch(ref('api-deployment'), { type: 'merge', body: moved });
    await stands('bee', SECRETS, 'other');
    assert.equal(await has('ant', SECRETS, 'token'), false);
  });

  test('goes with it, however far it followed', async () => {
    await edit('api', { spec: { template: { spec: { serviceAccountName: null, serviceAccount: null } } } });
    await gone('ant', SERVICE_ACCOUNTS, 'robot');
    await gone('ant', SECRETS, 'other');
    await gone('bee', SECRETS, 'other');
    await stands('bee', SERVICE_ACCOUNTS, 'robot');
    await untilObject(fleet.hub, RESOURCE_BINDINGS, ref('other-secret'), (it) => it === undefined);
  });
});
