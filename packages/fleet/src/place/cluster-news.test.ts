import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, DEPLOYMENTS } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, CLUSTERS, RESOURCE_BINDINGS, type ResourceBinding } from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';
import { policyForAll } from '../deliver/testing/policy-for-all.ts';
import { cluster, type ClusterParts, deployment } from './testing/build.ts';

const NARROW = { cpu: '4', serves: ['apps/v1/Deployment'] };

describe('what a cluster says of itself later', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start({ ant: NARROW });
    await fleet.run();
    const replicaScheduling = {
      replicaSchedulingType: 'Divided',
      weightPreference: { dynamicWeight: 'AvailableReplicas' },
    } as const;
    await fleet.hub
      .resource(CLUSTER_PROPAGATION_POLICIES)
      .create(policyForAll(['apps/v1/Deployment', 'v1/ConfigMap'], { placement: { replicaScheduling } }));
  });
  after(() => fleet[Symbol.asyncDispose]());

  const tells = async (parts: ClusterParts): Promise<void> => {
    const body = [{ op: 'add', path: '/status', value: cluster('ant', parts).status }];
    await fleet.hub.resource(CLUSTERS).patch({ name: 'ant' }, { type: 'json', body }, { subresource: 'status' });
  };
  const bindingWhere = (name: string, holds: (binding: ResourceBinding) => boolean) =>
    untilObject(
      fleet.hub,
      RESOURCE_BINDINGS,
      { namespace: 'demo', name },
      (binding) => binding !== undefined && holds(binding),
    );

  test('that it has more room: what lacked it is placed', async () => {
    const containers = [{ name: 'web', image: 'x', resources: { requests: { cpu: '1' } } }];
    const { uid: _, ...metadata } = deployment(6).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(6, { podSpec: { containers } }), metadata } as never);
    await bindingWhere('web-deployment', ({ spec }) => spec.unschedulable?.reason === 'Unschedulable');
    await tells({ ...NARROW, cpu: '6' });
    const placed = await bindingWhere('web-deployment', ({ spec }) => spec.unschedulable === undefined);
    assert.deepEqual(placed?.spec.clusters, [{ name: 'ant', replicas: 6 }]);
  });

  test('that it serves a kind: what is of that kind is placed', async () => {
    await fleet.hub.resource(CONFIG_MAPS).create({ metadata: { namespace: 'demo', name: 'conf' } });
    await bindingWhere('conf-configmap', ({ spec }) => spec.unschedulable?.reason === 'NoClusterFit');
    await tells({ ...NARROW, cpu: '6', serves: [...NARROW.serves, 'v1/ConfigMap'] });
    const placed = await bindingWhere('conf-configmap', ({ spec }) => spec.unschedulable === undefined);
    assert.deepEqual(placed?.spec.clusters, [{ name: 'ant' }]);
  });
});
