import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Service, SERVICES } from '@asterism/machinery';
import { PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../../api/index.ts';
import { Fleet } from '../testing/fleet.ts';

const ref = { namespace: 'demo', name: 'web' };

const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: ref,
  spec: { selector: { app: 'web' }, trafficDistribution: 'PreferClose', ports: [{ port: 80, protocol: 'TCP' }] },
};

/** What a kube-apiserver of 1.20 says to such an apply. */
const undeclared = (path: string) => `failed to create typed patch object: ${path}: field not declared in schema`;

test('a member that does not know a field gets the rest, once, and the status says so', async () => {
  await using fleet = await Fleet.start({
    old: {
      refuses: {
        internalTrafficPolicy: undeclared('.spec.internalTrafficPolicy'),
        trafficDistribution: undeclared('.spec.trafficDistribution'),
      },
    },
    new: {},
  });
  await fleet.run();
  await fleet.hub.resource(PROPAGATION_POLICIES).create({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'web', namespace: 'demo' },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'Service' }] },
  });
  await fleet.hub.resource(SERVICES).create(service);
  const old = await untilObject(fleet.member('old'), SERVICES, ref, (object) => object !== undefined);
  assert.equal(old?.spec?.['trafficDistribution' as 'type'], undefined);
  await untilObject(
    fleet.member('new'),
    SERVICES,
    ref,
    (object) => object?.spec?.trafficDistribution === 'PreferClose',
  );
  const binding = await untilObject(fleet.hub, RESOURCE_BINDINGS, { ...ref, name: 'web-service' }, (object) =>
    (object?.status?.conditions ?? []).some(({ type, status }) => type === 'FullyApplied' && status === 'True'),
  );
  assert.deepEqual(
    binding?.status?.aggregatedStatus?.map(({ clusterName, appliedMessage = '' }) => [clusterName, appliedMessage]),
    [
      ['new', ''],
      [
        'old',
        "applied without .spec.internalTrafficPolicy, .spec.trafficDistribution: the cluster's API does not know it",
      ],
    ],
  );

  fleet.writes.length = 0;
  for (const app of ['one', 'two']) {
    await fleet
      .member('old')
      .resource(SERVICES)
      .patch(ref, { type: 'merge', body: { spec: { selector: { app } } } });
    await untilObject(fleet.member('old'), SERVICES, ref, (object) => object?.spec?.selector?.['app'] === 'web');
  }
  const apply = 'old PATCH /api/v1/namespaces/demo/services/web?fieldManager=asterism&force=true';
  const writes = fleet.writes.filter((write) => write.startsWith('old '));
  assert.deepEqual(writes, [apply, apply], 'what is left out is no drift, and is not sent again');
});
