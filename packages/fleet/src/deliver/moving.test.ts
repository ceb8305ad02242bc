import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, type ConfigMap, findCondition } from '@asterism/machinery';
import {
  API_VERSION,
  clusterNamespace,
  CLUSTERS,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  WORKS,
} from '../api/index.ts';
import { Fleet } from './testing/fleet.ts';

const ref = (name: string) => ({ namespace: 'demo', name });
const applied = (binding: ResourceBinding | undefined) => findCondition(binding?.status?.conditions, 'FullyApplied');

describe('what a policy moves', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: { syncMode: 'Pull' } });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const configMap = (name: string): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ref(name),
    data: { key: 'hub' },
  });
  const stands = (where: string, name: string) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object?.data?.['key'] === 'hub');
  const gone = (where: string, name: string) =>
    untilObject(fleet.member(where), CONFIG_MAPS, ref(name), (object) => object === undefined);
  const binding = (name: string, check: (binding: ResourceBinding | undefined) => boolean) =>
    untilObject(fleet.hub, RESOURCE_BINDINGS, ref(`${name}-configmap`), check);
  const place = (name: string, clusterNames: string[], spec: Partial<PropagationPolicy['spec']> = {}) =>
    fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref(name),
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name }],
        placement: { clusterAffinity: { clusterNames } },
        ...spec,
      },
    });

  test('what is preserved stays where its cluster is chosen no more, and where no policy selects its template any more', async () => {
    const letGo = (where: string) =>
      untilObject(
        fleet.member(where),
        CONFIG_MAPS,
        ref('left'),
        (it) => it !== undefined && it.metadata?.labels?.['asterism.dev/managed'] === undefined,
      );
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('left'));
    await place('left', ['ant', 'bee'], { preserveResourcesOnDeletion: true });
    await Promise.all([stands('ant', 'left'), stands('bee', 'left')]);
    const body = { spec: { placement: { clusterAffinity: { clusterNames: ['bee'] } } } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('left'), { type: 'merge', body });
    await letGo('ant');
    const another = { spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none' }] } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('left'), { type: 'merge', body: another });
    await letGo('bee');
    await binding('left', (it) => it === undefined);
  });

  test('what moves to a cluster that is away stays where it is until that comes back', async () => {
    const tell = (status: 'True' | 'Unknown') => {
      const condition = {
        type: 'Ready',
        status,
        reason: 'r',
        message: 'm',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const body = { status: { conditions: [condition] } };
      return fleet.hub.resource(CLUSTERS).patch({ name: 'cow' }, { type: 'merge', body }, { subresource: 'status' });
    };
    await fleet.join('cow', {});
    await tell('Unknown');
    await fleet.hub.resource(CONFIG_MAPS).create(configMap('patient'));
    await place('patient', ['ant']);
    await stands('ant', 'patient');
    const body = { spec: { placement: { clusterAffinity: { clusterNames: ['cow'] } } } };
    await fleet.hub.resource(PROPAGATION_POLICIES).patch(ref('patient'), { type: 'merge', body });
    const workOf = (cluster: string) => ({ namespace: clusterNamespace(cluster), name: 'demo.patient-configmap' });
    await untilObject(fleet.hub, WORKS, workOf('cow'), (work) => work !== undefined);
    await binding('patient', (it) => applied(it)?.message === 'applied in 0 of 1 clusters; not in cow');
    assert.equal((await fleet.hub.resource(WORKS).get(workOf('ant'))).metadata.deletionTimestamp, undefined);
    await stands('ant', 'patient');
    await tell('True');
    await gone('ant', 'patient');
  });
});
